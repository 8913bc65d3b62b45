#pragma once
// Converts other programs' parameter names to Hugging Face's, which this program uses, and back.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns Hugging Face's name for a parameter:
///     module.X (DataParallel, DeepSpeed)                -> X
///     embeddings.X, encoder.X, pooler.X (a BertModel)   -> bert.embeddings.X, ...
///     X.dense_act.Y (NVIDIA, Habana)                    -> X.dense.Y
///     X.gamma, X.beta (TensorFlow)                      -> X.weight, X.bias
/// Returns other names unchanged.
std::string hugging_face_name(std::string_view name);

/// Returns the name in NVIDIA's and Habana's scripts for Hugging Face's name: X.dense.Y becomes X.dense_act.Y where an activation
/// follows (intermediate, pooler, transform of the MLM head).
std::string nvidia_name(std::string_view hugging_face_name);

/// Whether the name is that of a buffer derived from the model's shape: position_ids, token_type_ids.
bool is_derived_buffer(std::string_view name);

}  // namespace bertpretrain
