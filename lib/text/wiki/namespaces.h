#pragma once
// The namespace names of all languages' wikis.

#include <string_view>

#include "text/wiki/page.h"

namespace bertpretrain {

/// Returns the names and aliases of a wiki in this language, in lower case: English ones, its own, those of its variants
/// ("sr" has those of "sr-el"), and those of the languages whose names it takes over. @param language such as "pt", in any case;
/// an unknown one gives the English names
Namespaces namespaces_of(std::string_view language);

/// Returns the number of a name that means files (6), media (-2) or categories (14) in some language's wikis, else 0.
/// @param name in lower case, with spaces instead of underscores
std::int64_t file_or_category_namespace(std::string_view name);

}  // namespace bertpretrain
