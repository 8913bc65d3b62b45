#pragma once
// Which names MediaWiki knows as elements, and what becomes of each.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bertpretrain {

enum class ElementKind : std::uint8_t {
    unknown,  ///< no element: its "tag" is text
    opaque,   ///< nothing inside is markup; the first closing tag ends it, whatever stands before
    dropped,  ///< may nest; vanishes with its content
    kept,     ///< only its tags vanish
};

struct Element {
    ElementKind kind = ElementKind::unknown;
    std::uint8_t id = 0;  ///< names are numbered below `element_count`
    bool ends_line = false, is_formula = false, is_nowiki = false, is_break = false;
};

constexpr std::size_t element_count = 128;

/// @param name in lower case
Element element_named(std::string_view name);

}  // namespace bertpretrain
