#include "core/output/terminal.h"

#include <algorithm>
#include <charconv>

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/environment.h"

namespace bertpretrain {

std::size_t output_width() {
    constexpr std::size_t least = 60, usual = 100;
    std::size_t columns = 0;
    if (const auto text = environment_variable("COLUMNS"))
        if (std::from_chars(text->data(), text->data() + text->size(), columns).ptr != text->data() + text->size()) columns = 0;
    if (winsize size{}; columns == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    return columns == 0 ? usual : std::max(columns, least);
}

}  // namespace bertpretrain
