#pragma once
// Learns Punkt's parameters from raw text (unsupervised).
// Source: Kiss and Strunk 2006, sections 3 and 4, with NLTK's constants.

#include <string_view>
#include <vector>

#include "core/threads/task_pool.h"
#include "text/sentences/punkt_parameters.h"

namespace bertpretrain {

/// @param texts articles of a corpus, at most a paragraph per line; an empty line or the end of a text separates paragraphs
/// @param pool reads the texts in parallel; the result does not depend on its number of threads
PunktParameters learn_punkt(const std::vector<std::string_view>& texts, TaskPool& pool);

}  // namespace bertpretrain
