#pragma once
// Learns Punkt's parameters from raw text, without knowing where sentences end.
// Source: Kiss and Strunk 2006, sections 3 and 4, with the constants that NLTK uses.

#include <string_view>
#include <vector>

#include "text/punkt_parameters.h"

namespace bertpretrain {

/// @param lines of a corpus, a paragraph or less each; an empty one separates paragraphs
PunktParameters learn_punkt(const std::vector<std::string_view>& lines);

}  // namespace bertpretrain
