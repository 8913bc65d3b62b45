#include "core/guard.h"

#include <csignal>
#include <exception>
#include <new>

#include "core/error.h"
#include "core/log.h"

namespace bertpretrain {

int run_guarded(const std::function<int()>& body) {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, with a message
    try {
        return body();
    } catch (const Error& error) {
        log_error(error.what());
        return static_cast<int>(error.code());
    } catch (const std::bad_alloc&) {
        log_error(concat("config error: ", out_of_memory_message));
        return static_cast<int>(ExitCode::config);
    } catch (const std::exception& error) { log_error(concat("internal error (please report it): ", error.what())); }
    return static_cast<int>(ExitCode::bug);
}

}  // namespace bertpretrain
