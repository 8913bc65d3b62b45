#pragma once
// JSON that other programs wrote.

#include <string_view>

#include <nlohmann/json.hpp>

namespace bertpretrain {

/// Parses JSON of any program. Returns a discarded value for text that is not JSON, and for objects and lists that are nested
/// deeper than any model's files: to copy or print these would overflow the stack.
/// @tparam Json nlohmann::json or nlohmann::ordered_json
template <class Json = nlohmann::json>
Json parse_foreign_json(std::string_view text);

extern template nlohmann::json parse_foreign_json(std::string_view);
extern template nlohmann::ordered_json parse_foreign_json(std::string_view);

}  // namespace bertpretrain
