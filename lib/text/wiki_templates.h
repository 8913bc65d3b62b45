#pragma once
// {{templates}}, {{{parameters}}} and {| tables |}.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Wikitext without templates and parameters, however deeply they nest. Braces without a partner stay.
std::string without_templates(std::string_view wikitext);

/// Wikitext without tables, nested ones included. A table that is never closed stays.
std::string without_tables(std::string_view wikitext);

}  // namespace bertpretrain
