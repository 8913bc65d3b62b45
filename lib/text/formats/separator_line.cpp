#include "text/formats/separator_line.h"

#include <algorithm>

namespace bertpretrain {

std::optional<SeparatorLine> separator_line(std::string_view text) {
    constexpr std::size_t longest = 16;
    constexpr std::string_view key = "sep=";
    const std::size_t end = text.substr(0, longest).find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    std::string_view setting = line;
    if (setting.size() > 1 && setting.starts_with('"') && setting.ends_with('"')) setting = setting.substr(1, setting.size() - 2);
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    if (!std::ranges::equal(setting.substr(0, key.size()), key, {}, lower)) return std::nullopt;
    setting.remove_prefix(key.size());
    SeparatorLine found{.separator = 0, .size = end + 1, .line = std::string(line)};
    if (setting == "\\t" || setting == "\t") found.separator = '\t';
    else if (setting == "," || setting == ";") found.separator = setting[0];
    return found;
}

std::size_t begin_of_header(std::string_view text) {
    const std::optional<SeparatorLine> found = separator_line(text);
    return found ? found->size : 0;
}

}  // namespace bertpretrain
