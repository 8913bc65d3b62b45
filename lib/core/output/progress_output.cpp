#include "core/output/progress_output.h"

#include <chrono>

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/output/log.h"

namespace bertpretrain {

ProgressOutput progress_to_stderr() {
    ProgressOutput output;
    output.is_terminal = ::isatty(STDERR_FILENO) == 1;
    if (winsize size{}; ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) output.columns = size.ws_col;
    output.say = [](std::string_view line) { log_info(line); };
    output.draw = [](std::string_view text) { log_drawing(text); };
    output.seconds = seconds_now;
    return output;
}

}  // namespace bertpretrain
