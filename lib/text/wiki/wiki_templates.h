#pragma once
// Removes {{templates}}, {{{parameters}}} and {| tables |}.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Removes templates and parameters, at any depth of nesting. Braces without a partner are kept.
std::string without_templates(std::string_view wikitext);

/// Removes tables, nested ones included. A table that is never closed is kept.
std::string without_tables(std::string_view wikitext);

}  // namespace bertpretrain
