#pragma once
// Converts the parameter names in other programs' files to this program's, which are transformers'.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bertpretrain {

/// A parameter whose rows stand elsewhere in the files' tensor than here.
struct StoredRows {
    std::string_view parameter;  ///< this program's name for it ends with this
    std::int64_t unused = 0;     ///< rows of the tensor that the parameter lacks
    /// Returns the tensor's row for a row of the parameter; null: the same. @param rows of the parameter @param heads of
    /// attention
    std::int64_t (*place)(std::int64_t row, std::int64_t rows, std::int64_t heads) = nullptr;
    bool zeros_beyond = false;  ///< whether the tensor may lack the parameter's last rows, which then are zeros
};

/// How the files of one architecture name and arrange its parameters.
struct NamingRules {
    std::string_view base;            ///< stands before the encoder's names, except in files of the encoder alone: "bert."
    std::string_view word_embedding;  ///< its name after `base`
    std::span<const std::string_view> encoder_parts;  ///< what names begin with in files of the encoder alone
    std::span<const std::pair<std::string_view, std::string_view>> other_parts, other_endings;  ///< {theirs, ours}
    std::span<const std::string_view> derived;       ///< endings of buffers that follow from the model's shape
    std::span<const std::string_view> other_models;  ///< what stands in place of `base` in files of models that compute otherwise
    std::span<const StoredRows> rows = {};           ///< all other parameters have their rows in this program's order
    std::span<const std::string_view> model_types = {};  ///< of a config.json, for a form of files beside the first one
    const NamingRules* other_form = nullptr;             ///< of files that hold the same architecture
};

/// What stands before the names of a model's parameters in a file, such as "model." in PyTorch Lightning's checkpoints.
struct NamePrefix {
    std::string text;
    bool has_base = false;  ///< whether NamingRules::base follows
};

/// Returns the form of a file, among `first` and those after it: the one for the model_type of its config.json; without a type,
/// the one whose base stands in the names. `first` where there is none.
const NamingRules& form_of(const NamingRules& first, std::string_view model_type, const std::vector<std::string>& names);

/// Returns the prefixes of all word embeddings among the names; several where a file holds several models.
std::vector<NamePrefix> name_prefixes(const NamingRules& rules, const std::vector<std::string>& names);

/// Whether the names after this prefix are those of another architecture of transformers, such as "roberta.".
bool is_of_other_model(const NamingRules& rules, const NamePrefix& prefix);

/// Returns this program's name for a stored tensor: without the wrappers of PyTorch (module., _orig_mod., ...) wherever they
/// stand, without the prefix, with the base, and with its parts as ours. Returns other names unchanged.
std::string our_name(const NamingRules& rules, std::string_view stored, const NamePrefix& prefix = {});

/// Returns the name in files of this form, which has `other_parts` for what differs from this program's names.
std::string stored_name(const NamingRules& form, std::string ours);

/// Whether the name is that of a buffer derived from the model's shape.
bool is_derived_buffer(const NamingRules& rules, std::string_view name);

}  // namespace bertpretrain
