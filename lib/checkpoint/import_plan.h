#pragma once
// Which stored tensor each parameter is taken from, and what does not fit.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/training_state.h"
#include "checkpoint/weight_files.h"
#include "model/bert_config.h"

namespace bertpretrain {

/// Where one parameter comes from.
struct PlannedImport {
    enum class Beyond {
        nothing,
        initial,
        repeated
    };  ///< rows that the file does not have: there are none; new ones; its rows again

    std::string name;           ///< ours
    std::size_t tensor = 0;     ///< index in WeightFiles::tensors()
    std::int64_t elements = 0;  ///< that are taken from the file, from its first on
    Beyond beyond = Beyond::nothing;
};

struct ImportPlan {
    std::vector<PlannedImport> imports;  ///< in the order of the parameters
    std::vector<std::string> initial;    ///< parameters that the file lacks, and that keep their new values
    std::vector<std::string> ignored;    ///< tensors of the file that are not used
    std::vector<std::string> remarks;    ///< what was fitted, for the log
};

struct ImportChoices {
    bool missing_allowed = false;     ///< they keep their new values
    bool unexpected_allowed = false;  ///< they are left aside
    std::string advice =              ///< what a refusal says to do
        "set the model section to the shape of the file; initialization.init_missing = \"random\" gives missing ones new values, "
        "init_unexpected = \"ignore\" leaves others aside";
};

/// Vocabularies are padded to a multiple of this at most: rows beyond a vocabulary are new, or left aside.
inline constexpr std::int64_t vocabulary_padding = 128;

/// Pairs every parameter with a tensor of its name (parameter_names.h) and shape. Rows may differ in two cases: word embedding
/// and decoder bias by less than vocabulary_padding, and the position embedding, of which the first rows are taken, or all again
/// and again. Tied tensors (`aliases`) may stand under either name, and must be equal where they stand under both.
/// @throws ConfigError listing every tensor that is missing, unexpected or of another shape
/// @throws CheckpointError when the file is damaged, where tied tensors are compared
ImportPlan plan_import(const WeightFiles& files, const std::vector<TensorDescription>& parameters,
                       const std::vector<TensorAlias>& aliases, const ImportChoices& choices);

/// The same for the parameters and tied tensors of a BERT.
ImportPlan plan_import(const WeightFiles& files, const BertConfig& model, const ImportChoices& choices);

/// Copies elements [first, first + count) of a parameter; those that the file does not have are left as they are, or repeated.
void read_planned(const WeightFiles& files, const PlannedImport& planned, std::int64_t first, std::int64_t count, float* into);

}  // namespace bertpretrain
