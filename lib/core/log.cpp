// The only file that sees spdlog: its fmt and the one that torch carries do not share an include path.
#include "core/log.h"

#include <memory>
#include <string>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

spdlog::logger& logger() {
    static const std::shared_ptr<spdlog::logger> instance = [] {
        auto to_stderr = std::make_shared<spdlog::sinks::stderr_sink_mt>();
        auto made = std::make_shared<spdlog::logger>("bertpretrain", to_stderr);
        made->set_pattern("%v");
        made->flush_on(spdlog::level::info);
        return made;
    }();
    return *instance;
}

}  // namespace

void log_info(std::string_view message) { logger().info("{}", message); }
void log_warning(std::string_view message) { logger().warn("warning: {}", message); }
void log_error(std::string_view message) { logger().error("{}", message); }

void log_also_to(const std::filesystem::path& file) {
    try {
        auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string(), /*truncate=*/false);
        sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
        logger().sinks().push_back(sink);
    } catch (const spdlog::spdlog_ex& error) {
        throw ConfigError(concat(file.string(), ": cannot be written to (", error.what(), ")\n  do: free it, or choose another ",
                                 "folder with --output"));
    }
}

}  // namespace bertpretrain
