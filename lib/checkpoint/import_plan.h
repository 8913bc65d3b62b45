#pragma once
// Plans which stored tensor each parameter is read from, and reports what does not fit.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/weight_files.h"
#include "model/architecture.h"

namespace bertpretrain {

/// The source of one parameter.
struct PlannedImport {
    enum class Beyond {
        nothing,
        initial,
        repeated,
        zeros
    };  ///< rows that the file lacks: none; keep their initial values; the file's rows repeated; zeros

    std::string name;           ///< of the parameter in this program
    std::size_t tensor = 0;     ///< index in WeightFiles::tensors()
    std::int64_t elements = 0;  ///< number of elements read from the file, starting at its first
    Beyond beyond = Beyond::nothing;
    std::vector<std::int64_t> rows{};  ///< the tensor's row for each row that is read; empty: the same
    std::vector<std::int64_t>
        columns{};  ///< the tensor's column for each column of a matrix, which then has `rows`; empty: the same
};

struct ImportPlan {
    std::vector<PlannedImport> imports;  ///< in the order of the parameters
    std::vector<std::string> initial;    ///< parameters that the file lacks; they keep their initial values
    std::vector<std::string> ignored;    ///< tensors in the file that are not used
    std::vector<std::string> remarks;    ///< adjustments and conversions, for the log
};

struct ImportChoices {
    bool missing_allowed = false;     ///< missing parameters keep their initial values
    bool unexpected_allowed = false;  ///< unexpected tensors are ignored
    bool vocabulary_grew = false;     ///< the model's vocabulary extends the file's, so it may have any number of further rows
    std::optional<ModelConfig> described{};  ///< the model that the files describe; nullopt: unknown
    std::string advice{};                    ///< the "do:" line of the error message; empty: about the settings of an experiment
};

/// Vocabularies are padded to a multiple of at most this, so their row counts may differ by less: extra rows of the model keep
/// their initial values, extra rows of the file are ignored.
inline constexpr std::int64_t vocabulary_padding = 128;

/// Pairs every parameter with a tensor of its name (model/stored_names.h) and shape. The number of rows may differ in two cases:
/// tensors with a row per token, by less than vocabulary_padding unless the vocabulary grew; and position embeddings, whose rows
/// are truncated or repeated to fit. Rows are read from where the files have them (StoredRows). Tied tensors may be stored under
/// either name, and must be equal if stored under both. What stands before all names is left out (name_prefixes()), with a
/// remark. Single numbers beside the weights are ignored. A head that the files lack, and that the class in their config.json
/// lacks too, begins at random.
/// @throws ConfigError listing every tensor that is missing, unexpected or of a different shape (at most 60); where settings
/// differ from the described model's, these first, and then at most 3 tensors
/// @throws CheckpointError for weights that are no floating-point numbers, or when the file is found to be damaged while tied
/// tensors are compared
ImportPlan plan_import(const WeightFiles& files, const ModelConfig& model, const ImportChoices& choices);

/// Copies elements [first, first + count) of a parameter to `into`. Elements that the file lacks are repeated, zeros or left
/// unchanged, by PlannedImport::beyond. @throws CheckpointError naming the tensor and its first element that is not finite
void read_planned(const WeightFiles& files, const PlannedImport& planned, std::int64_t first, std::int64_t count, float* into);

}  // namespace bertpretrain
