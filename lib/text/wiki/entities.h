#pragma once
// HTML character references such as "&eacute;", "&#8211;" and "&#x2013;".

#include <string>
#include <string_view>

namespace bertpretrain {

/// Replaces HTML character references once: "&amp;lt;" gives "&lt;". Unknown names are left unchanged, and invalid code points
/// give U+FFFD. 128 to 159 mean Windows-1252, as in every browser.
std::string decode_entities(std::string_view text);

/// Replaces every character with a meaning in wikitext by a reference, so that later steps see no markup in `text`.
std::string protect_markup(std::string_view text);

}  // namespace bertpretrain
