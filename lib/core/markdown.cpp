#include "core/markdown.h"

#include <nlohmann/json.hpp>

#include "core/concat.h"

namespace bertpretrain {

std::string yaml_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);  // JSON is YAML
}

std::string markdown_text(std::string_view text) {
    constexpr std::string_view meaningful = "\\`*_{}[]<>#|!";
    std::string escaped;
    for (const char c : text) {
        if (meaningful.find(c) != std::string_view::npos) escaped += '\\';
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return escaped;
}

std::string markdown_table(std::string_view name, std::string_view value,
                           const std::vector<std::pair<std::string, std::string>>& rows) {
    std::string table = concat("| ", name, " | ", value, " |\n|---|---|\n");
    for (const auto& [key, text] : rows)
        if (!text.empty()) table += concat("| ", key, " | ", text, " |\n");
    return table;
}

}  // namespace bertpretrain
