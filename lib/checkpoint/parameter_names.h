#pragma once
// Converts other programs' parameter names to Hugging Face's, which this program uses, and back.

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// What stands before the names of a BERT's parameters in a file, such as "model." in PyTorch Lightning's checkpoints.
struct NamePrefix {
    std::string text;
    bool has_bert = false;  ///< whether "bert." follows, as in all but a BertModel's own names
};

/// Returns the prefixes of all word embeddings among the names; several where a file holds several models.
std::vector<NamePrefix> name_prefixes(const std::vector<std::string>& names);

/// Whether the names after this prefix are those of another architecture of transformers, such as "roberta.".
bool is_of_other_model(const NamePrefix& prefix);

/// Returns Hugging Face's name for a parameter:
///     module.X, _orig_mod.X, ... (PyTorch's wrappers)   -> X, wherever in the name they stand
///     prefix.X                                          -> X
///     embeddings.X, encoder.X, pooler.X (a BertModel)   -> bert.embeddings.X, ..., unless the prefix has bert
///     X.dense_act.Y (NVIDIA, Habana)                    -> X.dense.Y
///     X.gamma, X.beta (TensorFlow)                      -> X.weight, X.bias
/// Returns other names unchanged.
std::string hugging_face_name(std::string_view name, const NamePrefix& prefix = {});

/// Returns the name in NVIDIA's and Habana's scripts for Hugging Face's name: X.dense.Y becomes X.dense_act.Y where an activation
/// follows (intermediate, pooler, transform of the MLM head).
std::string nvidia_name(std::string_view hugging_face_name);

/// Whether a parameter belongs to the pooler or to a head of the pretraining tasks.
bool is_head_parameter(std::string_view hugging_face_name);

/// Whether the name is that of a buffer derived from the model's shape: position_ids, token_type_ids.
bool is_derived_buffer(std::string_view name);

}  // namespace bertpretrain
