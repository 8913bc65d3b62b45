#pragma once
// Recognizes JSON, in the shapes in which files hold it.

#include <string_view>

namespace bertpretrain {

enum class JsonShape {
    none,           ///< no JSON
    lines,          ///< JSONL: an object per line
    sequence,       ///< RFC 7464: an object after each byte 0x1E (RS)
    array,          ///< one array
    several_lines,  ///< objects that do not stand one per line: over several lines, or several on a line
    commas,         ///< an object per line, with commas between them
    arrays,         ///< an array per line
    strings,        ///< a string per line
    not_quite,      ///< an object per line, but not in JSON's syntax, as Python prints a dict
};

/// Returns the shape of a text that begins with `head`: that of most of its first thousand lines, regardless of the first one.
/// A head whose lines do not decide it is judged by how it begins: `{"key":`, `[{"key":`, or an array of strings or arrays.
/// @param is_whole whether nothing follows `head`  Time: linear, and short where lines do not begin with a bracket or a quote.
JsonShape json_shape(std::string_view head, bool is_whole);

/// Whether the text begins with an object's first key: `{"key":`, or is an empty object.
bool begins_json_object(std::string_view text);

}  // namespace bertpretrain
