#include "parallel/slurm_hosts.h"

#include <charconv>

namespace bertpretrain {
namespace {

/// Splits `text` at the commas outside of brackets.
std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && text[i] == '[') ++depth;
        if (i < text.size() && text[i] == ']') --depth;
        if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
        if (i > begin) parts.push_back(text.substr(begin, i - begin));
        begin = i + 1;
    }
    return parts;
}

bool read_number(std::string_view text, long& value) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failure == std::errc() && end == text.data() + text.size() && value >= 0;
}

/// "01-03" -> 01, 02, 03; "7" -> 7. Numbers are zero-padded to the width of the first.
std::vector<std::string> expand_range(std::string_view range, std::size_t most) {
    const std::size_t dash = range.find('-');
    long first = 0, last = 0;
    const std::string_view low = range.substr(0, dash);
    if (!read_number(low, first) || !read_number(dash == range.npos ? low : range.substr(dash + 1), last)) return {};
    std::vector<std::string> numbers;
    for (long number = first; number <= last && numbers.size() < most; ++number) {
        const std::string digits = std::to_string(number);
        numbers.push_back(std::string(low.size() > digits.size() ? low.size() - digits.size() : 0, '0') + digits);
    }
    return numbers;
}

std::vector<std::string> expand_name(std::string_view name, std::size_t most) {
    const std::size_t open = name.find('['), close = name.find(']');
    if (open == name.npos && close == name.npos) return {std::string(name)};
    if (open == name.npos || close == name.npos || close < open) return {};
    std::vector<std::string> names;
    const std::vector<std::string> tails = expand_name(name.substr(close + 1), most);
    for (const std::string_view range : split(name.substr(open + 1, close - open - 1)))
        for (const std::string& number : expand_range(range, most))
            for (const std::string& tail : tails)
                if (names.size() < most) names.push_back(std::string(name.substr(0, open)) + number + tail);
    return names;
}

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list, std::size_t most) {
    std::vector<std::string> hosts;
    for (const std::string_view name : split(list))
        for (std::string& host : expand_name(name, most))
            if (hosts.size() < most) hosts.push_back(std::move(host));
    return hosts;
}

}  // namespace bertpretrain
