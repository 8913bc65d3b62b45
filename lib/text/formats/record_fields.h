#pragma once
// Which fields of a record hold its text and id.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Where a record's text and id are.
struct RecordFields {
    std::string text = "text";  ///< one name, or several with commas between them, whose texts are joined by line ends
    std::string id;             ///< a name; empty: none
};

/// Returns the names in RecordFields::text: one for "title", two for "title,body". A name with dots reaches into objects.
/// @param exists whether a field has a name; a field whose whole name is `text`, commas included, is taken first
std::vector<std::string> text_fields(const std::string& text, const std::function<bool(const std::string&)>& exists);

/// @throws ConfigError when a name in `text` is empty or occurs twice
void check_text_fields(const std::string& text);

/// Says why a field of a JSON object gives no text, for BadRecord: what the object has instead, and the option that reaches a
/// text inside.
/// @param record one JSON object  @param name the field that was looked for  @param option the one that named it
std::string missing_field(std::string_view record, const std::string& name, std::string_view option);

/// @param kind what the field is instead of a text, such as "an object"
std::string other_field(std::string_view record, const std::string& name, std::string_view option, std::string_view kind);

}  // namespace bertpretrain
