#pragma once
// Predicts the tokens at the [MASK] tokens of texts.

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

struct TokenGuess {
    std::int32_t id = 0;
    double probability = 0;  ///< softmax over the model's whole vocabulary
};

/// The guesses for one [MASK] token, the most probable first; of equally probable ones, the smaller id.
using MaskGuesses = std::vector<TokenGuess>;

/// A text as the model reads it, with a MaskGuesses for each of its [MASK] tokens in order.
struct PredictedText {
    std::vector<std::int32_t> ids;            ///< with [CLS] and [SEP]
    std::vector<std::size_t> mask_positions;  ///< index into ids
    std::vector<MaskGuesses> guesses;
};

/// Checks all texts, then predicts each on its own, so that the others do not change its numbers.
/// @param texts each is one segment  @param where the texts' name in messages, such as a file
/// @param count guesses per [MASK], at least 1; at most the model's vocabulary is returned
/// @throws ConfigError naming the line of a text that has no [MASK], or more tokens than the model has positions; NumbersError
/// naming the line for which the model's scores are not finite
std::vector<PredictedText> predict_masked(const Model& model, const Tokenizer& tokenizer, at::Device device,
                                          const std::vector<std::string>& texts, std::int64_t count, const std::string& where);

}  // namespace bertpretrain
