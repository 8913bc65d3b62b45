#include "core/output/guard.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <ios>
#include <iostream>
#include <new>

#include <poll.h>
#include <unistd.h>

#include "core/error.h"
#include "core/output/log.h"
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
    try {
        const int code = body();
        std::cout.flush();
        return code;
    } catch (const Error& error) {
        log_error(error.what());
        return static_cast<int>(error.code());
    } catch (const std::bad_alloc&) {
        log_error(concat("config error: ", out_of_memory_message));
        return static_cast<int>(ExitCode::config);
    } catch (const std::exception& error) {
        if (std::cout.bad()) return code_of_failed_output(errno);
        log_error(concat("internal error (please report it): ", error.what()));
    }
    return static_cast<int>(ExitCode::bug);
}

}  // namespace

int run_guarded(const std::function<int()>& body) {
    prepare_signals();
    std::cout.exceptions(std::ios::badbit);
    const int code = code_of(body);
    std::cout.exceptions(std::ios::goodbit);
    flush_log(seconds_for_last_messages);
    return code;
}

}  // namespace bertpretrain
