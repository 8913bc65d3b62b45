#include "core/foreign_json.h"

#include <cstddef>

namespace bertpretrain {
namespace {

constexpr std::size_t most_levels = 200;

/// Whether brackets outside of strings are open more than `most_levels` deep at some place.
bool is_too_deep(std::string_view text) {
    std::size_t level = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') in_string = !in_string;
        else if (in_string) i += c == '\\' ? 1 : 0;
        else if ((c == '{' || c == '[') && ++level > most_levels) return true;
        else if ((c == '}' || c == ']') && level > 0) --level;
    }
    return false;
}

}  // namespace

template <class Json>
Json parse_foreign_json(std::string_view text) {
    return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

template nlohmann::json parse_foreign_json(std::string_view);
template nlohmann::ordered_json parse_foreign_json(std::string_view);

}  // namespace bertpretrain
