#pragma once
// Pieces of the cards (README.md) beside models and data.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bertpretrain {

/// The metadata of a card whose licence is not chosen yet, and the sentence that says so.
inline constexpr std::string_view licence_yaml = "license: other\nlicense_name: choose-a-licence\n";
inline constexpr std::string_view licence_note =
    "No licence has been chosen: replace `license: other` and `license_name: choose-a-licence` above before you publish this.";

/// Returns a text as a quoted YAML scalar. Bytes that are not UTF-8 are replaced.
std::string yaml_text(std::string_view text);
/// Returns a text with the characters escaped that have a meaning in Markdown, without line breaks.
std::string markdown_text(std::string_view text);
/// Returns a table of two columns. Rows without a value are left out. @param name,value its header
std::string markdown_table(std::string_view name, std::string_view value,
                           const std::vector<std::pair<std::string, std::string>>& rows);

}  // namespace bertpretrain
