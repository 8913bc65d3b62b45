#pragma once
// "&eacute;", "&#8211;", "&#x2013;" -> the characters they stand for.

#include <string>
#include <string_view>

namespace bertpretrain {

/// `text` with HTML's character references replaced, once: "&amp;lt;" gives "&lt;". Unknown names stay as they are; numbers that
/// are no character give U+FFFD; 128 to 159 mean Windows-1252, as in every browser.
std::string decode_entities(std::string_view text);

/// `text` with every character that wikitext gives a meaning to written as a reference, so that no later step sees markup.
std::string protect_markup(std::string_view text);

}  // namespace bertpretrain
