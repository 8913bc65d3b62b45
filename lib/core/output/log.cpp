// The only file that includes spdlog: its fmt and the one bundled with torch must not share an include path.
#include "core/output/log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/displayable.h"
#include "core/output/line_writer.h"
#include "core/output/log_files.h"

namespace bertpretrain {
namespace {

/// Formats messages and passes them to a LineWriter.
class WriterSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    WriterSink(int descriptor, const std::string& pattern) : writer_(descriptor) { set_pattern_(pattern); }
    LineWriter& writer() { return writer_; }

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t text;
        formatter_->format(message, text);
        writer_.put({text.data(), text.size()});
    }
    void flush_() override {}

    LineWriter writer_;
};

/// Standard error, and log.txt after log_also_to(). Never destroyed: threads may log during process exit.
struct Outputs {
    std::shared_ptr<WriterSink> standard_error = std::make_shared<WriterSink>(STDERR_FILENO, "%v");
    std::vector<std::shared_ptr<WriterSink>> all{standard_error};
    spdlog::logger logger{"bertpretrain", standard_error};
};

Outputs& outputs() {
    static auto& instance = *new Outputs;
    return instance;
}

/// Escapes control characters: file names in messages are untrusted, and terminals interpret escape sequences.
std::string safe(std::string_view message) { return displayable(message, "\n\t"); }

}  // namespace

void log_info(std::string_view message) { outputs().logger.info("{}", safe(message)); }
void log_warning(std::string_view message) { outputs().logger.warn("warning: {}", safe(message)); }
void log_error(std::string_view message) { outputs().logger.error("{}", safe(message)); }

void log_error_to_files(std::string_view message) {
    for (const auto& one : outputs().all)
        if (one != outputs().standard_error && one->should_log(spdlog::level::err))
            one->log(spdlog::details::log_msg("", spdlog::level::err, spdlog::string_view_t(safe(message))));
}

void set_log_level(LogLevel level) {
    outputs().standard_error->set_level(level == LogLevel::info      ? spdlog::level::info
                                        : level == LogLevel::warning ? spdlog::level::warn
                                                                     : spdlog::level::err);
}

void log_also_to(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0)
        throw ConfigError(concat(file.string(), ": cannot be opened for writing (", std::strerror(errno),
                                 ")\n  do: make it writable, or choose another folder with --output"));
    for (const auto& one : outputs().all)
        if (one != outputs().standard_error) one->set_level(spdlog::level::off);
    outputs().all.push_back(std::make_shared<WriterSink>(descriptor, "%Y-%m-%dT%H:%M:%S.%e%z %v"));
    outputs().logger.sinks().push_back(outputs().all.back());
}

void log_drawing(std::string_view text) {
    WriterSink& terminal = *outputs().standard_error;
    if (terminal.should_log(spdlog::level::info)) terminal.writer().put_unless_late(text);
}

void flush_log(double seconds) {
    const double end = seconds_now() + seconds;
    for (const auto& one : outputs().all) one->writer().flush(std::max(0.0, end - seconds_now()));
}

}  // namespace bertpretrain
