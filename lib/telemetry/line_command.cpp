#include "telemetry/line_command.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "core/output/log.h"
#include "core/shell_command.h"

namespace bertpretrain {
namespace {

constexpr int pipe_bytes = 1 << 20;  ///< more than the usual 64 KiB: a command that is stopped for minutes loses nothing

}  // namespace

LineCommand::LineCommand(const std::string& command, const std::filesystem::path& run) {
    if (command.empty()) return;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        give_up(concat("could not be started (", std::strerror(errno), ")"));
        return;
    }
    pipe_ = ends[1];
    const int failure = spawn_shell(
        {.command = command, .name = "telemetry", .argument = std::filesystem::absolute(run).string(), .input = ends[0]},
        process_);
    ::close(ends[0]);
    if (failure != 0) {
        give_up(concat("could not be started (", std::strerror(failure), ")"));
        return;
    }
    ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
    ::fcntl(pipe_, F_SETPIPE_SZ, pipe_bytes);  // best effort: a user's pipes may be limited
}

LineCommand::~LineCommand() {
    if (pipe_ >= 0 && !kept_.empty()) write_kept();
    if (pipe_ >= 0 && !kept_.empty()) give_up(concat("does not read; its last ", kept_.size(), " bytes are dropped"));
    if (pipe_ >= 0) ::close(pipe_);
    if (process_ > 0) ::waitpid(process_, nullptr, WNOHANG);
}

void LineCommand::send(std::string_view line) noexcept {
    if (pipe_ < 0) return;
    try {
        if (kept_.size() + line.size() < most_kept) kept_.append(line).push_back('\n');
        else if (!std::exchange(has_dropped_, true))
            log_warning("telemetry.command reads too slowly; lines are dropped, the run continues");
        write_kept();
    } catch (const std::exception& error) { give_up(error.what()); }
}

void LineCommand::write_kept() {
    std::size_t written = 0;
    while (written < kept_.size()) {
        const ssize_t now = ::write(pipe_, kept_.data() + written, kept_.size() - written);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0 && errno == EAGAIN) break;
        if (now < 0) return give_up(errno == EPIPE ? "has ended" : std::strerror(errno));
        written += static_cast<std::size_t>(now);
    }
    kept_.erase(0, written);
}

void LineCommand::give_up(const std::string& why) {
    log_warning(concat("telemetry.command ", why, "; the run continues without it"));
    if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
    kept_.clear();
}

}  // namespace bertpretrain
