#pragma once
// Learns Punkt's parameters from raw text, without knowing where sentences end.
// Source: Kiss and Strunk 2006, sections 3 and 4, with the constants that NLTK uses.

#include <string_view>
#include <vector>

#include "core/task_pool.h"
#include "text/punkt_parameters.h"

namespace bertpretrain {

/// @param texts articles of a corpus, a paragraph or less per line; an empty line separates paragraphs, and so does a text's end
/// @param pool reads them; the result does not depend on its threads
PunktParameters learn_punkt(const std::vector<std::string_view>& texts, TaskPool& pool);

}  // namespace bertpretrain
