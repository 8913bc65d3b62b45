#pragma once
// Sentence boundary detection by the Punkt algorithm with learned parameters.
// Source: Kiss and Strunk 2006. Candidates and the realignment of closing quotation marks follow NLTK 3.8: with the same
// parameters, the results are equal.

#include <string>
#include <string_view>
#include <vector>

#include "text/sentences/punkt_parameters.h"
#include "text/sentences/punkt_token.h"

namespace bertpretrain {

/// First stage: marks abbreviations, ellipses and sentence breaks, by the word alone.
void annotate_type(const PunktParameters& parameters, PunktToken& token);
/// Second stage: revises a word that ends in a period, by the word that follows it.
void annotate_pair(const PunktParameters& parameters, PunktToken& token, const PunktToken& next);

/// Returns the sentences of `text` in order, without white space at their ends, none of them empty. Takes linear time.
std::vector<std::string> punkt_sentences(const PunktParameters& parameters, std::string_view text);

}  // namespace bertpretrain
