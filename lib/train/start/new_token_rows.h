#pragma once
// Rows of the word embedding, and elements of the decoder's bias, for tokens that the imported weights do not have.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "checkpoint/import_plan.h"
#include "model/parameter_layout.h"

namespace bertpretrain {

/// A token of the run's vocabulary that the weights' vocabulary lacks.
struct NewToken {
    std::int32_t id = 0;
    std::vector<std::int32_t> pieces;  ///< ids that the weights' vocabulary splits it into; empty: it cannot
};

/// Returns the tokens of `ours` that `theirs` lacks (vocabulary_extension.h); none for equal vocabularies.
/// @throws ConfigError naming the first token that differs if `ours` does not extend `theirs`
std::vector<NewToken> new_tokens_of(const std::filesystem::path& theirs, const std::filesystem::path& ours);

/// Sets the row of each new token that has pieces to the mean of its pieces' rows in the file, where this rank owns a part of it.
/// Other rows keep their values. @param slice float32 on the CPU, of the rank's runs
void fill_new_rows(const WeightFiles& files, const ImportPlan& plan, std::span<const NewToken> tokens,
                   const ParameterLayout& layout, std::span<const OwnedRun> runs, const at::Tensor& slice);

}  // namespace bertpretrain
