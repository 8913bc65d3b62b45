#include "core/output/guard.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <ios>
#include <iostream>
#include <memory>
#include <new>
#include <system_error>

#include <poll.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/output/log_files.h"
#include "core/output/shared_failures.h"
#include "core/signals.h"

namespace bertpretrain {
namespace {

constexpr double seconds_for_last_messages = 5;

/// Returns the exit code after a failed write to standard output. @param reason the write's errno
int code_of_failed_output(int reason) {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    const bool reader_has_left = ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
    if (reader_has_left) return 128 + SIGPIPE;
    log_error(concat("data error: standard output: cannot be written (", std::strerror(reason),
                     ")\n  do: free space, or redirect the output to another disk"));
    return static_cast<int>(ExitCode::data);
}

int code_of(const std::function<int()>& body) {
    const std::unique_ptr<SharedFailures> shared = SharedFailures::of_parent();
    // Logs the error that ends this process. Of processes that share their failures, the first one prints it.
    const auto log_failure = [&](const std::string& message) {
        const auto rank = environment_variable("RANK");
        if (!shared || !rank) return log_error(message);
        const bool is_first = shared->add(message) == 1;
        (is_first ? log_error : log_error_to_files)(with_rank(message, *rank));
    };
    try {
        const int code = body();
        std::cout.flush();
        return code;
    } catch (const Error& error) {
        log_failure(error.what());
        return static_cast<int>(error.code());
    } catch (const std::exception& error) {
        if (const std::optional<Error> known = known_error(error)) {
            log_failure(known->what());
            return static_cast<int>(known->code());
        }
        if (std::cout.bad()) return code_of_failed_output(errno);
        log_failure(concat("internal error (please report it): ", error.what()));
    }
    return static_cast<int>(ExitCode::bug);
}

}  // namespace

std::optional<Error> known_error(const std::exception& error) {
    if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
        return ConfigError(
            "out of memory; use a smaller batch.micro_batch_size, training.activation_checkpointing or a machine with more "
            "memory");
    if (const auto* const refused = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
        return DataError(concat(displayable(refused->path1().string()), ": ", refused->code().message(),
                                disk_advice(refused->code().value())));
    const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
    if (of_system == nullptr || of_system->code() != std::errc::resource_unavailable_try_again) return std::nullopt;
    return ConfigError(concat("no more threads or processes may be started here (", error.what(),
                              ")\n  do: raise the user's limit ",
                              "(`ulimit -u`) or the container's (docker run --pids-limit, podPidsLimit of Kubernetes)"));
}

int run_guarded(const std::function<int()>& body) {
    prepare_signals();
    std::cout.exceptions(std::ios::badbit);
    const int code = code_of(body);
    std::cout.exceptions(std::ios::goodbit);
    flush_log(seconds_for_last_messages);
    return code;
}

}  // namespace bertpretrain
