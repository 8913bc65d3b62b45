#pragma once
// Sentence boundaries by the Punkt algorithm with learned parameters.
// Source: Kiss and Strunk 2006; the candidates and the realignment of closing quotation marks are those of NLTK 3.8, whose
// results it gives for the same parameters.

#include <string>
#include <string_view>
#include <vector>

#include "text/punkt_parameters.h"
#include "text/punkt_token.h"

namespace bertpretrain {

/// The first stage: a word by itself. Abbreviations, ellipses, and stops that end a sentence.
void annotate_type(const PunktParameters& parameters, PunktToken& token);
/// The second stage: a word that ends in a period, in the light of the next one.
void annotate_pair(const PunktParameters& parameters, PunktToken& token, const PunktToken& next);

/// The sentences of `text` in order, without white space at their ends, none empty. Linear in its size.
std::vector<std::string> punkt_sentences(const PunktParameters& parameters, std::string_view text);

}  // namespace bertpretrain
