#pragma once
// The HTML-like elements that MediaWiki knows, and how each is handled.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bertpretrain {

enum class ElementKind : std::uint8_t {
    unknown,  ///< not an element: its "tag" is text
    opaque,   ///< nothing inside is markup, and the first closing tag ends it
    dropped,  ///< removed with its content; may nest
    kept,     ///< only its tags are removed
};

struct Element {
    ElementKind kind = ElementKind::unknown;
    std::uint8_t id = 0;  ///< unique, less than element_count
    bool ends_line = false, is_formula = false, is_nowiki = false, is_break = false;
};

constexpr std::size_t element_count = 128;

/// Returns the element with this name, or one of kind unknown. @param name in lower case
Element element_named(std::string_view name);

}  // namespace bertpretrain
