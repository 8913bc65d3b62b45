#pragma once
// What others call the parameters that we name as Hugging Face does: the one table of names.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Hugging Face's name of a parameter under any of the names that it goes by:
///     module.X (DataParallel, DeepSpeed)                -> X
///     embeddings.X, encoder.X, pooler.X (a BertModel)   -> bert.embeddings.X, ...
///     X.dense_act.Y (NVIDIA, Habana)                    -> X.dense.Y
///     X.gamma, X.beta (of TensorFlow)                   -> X.weight, X.bias
/// Other names are given back as they are.
std::string hugging_face_name(std::string_view name);

/// The name that NVIDIA's and Habana's scripts have for a parameter, from Hugging Face's: X.dense.Y is X.dense_act.Y where an
/// activation follows (intermediate, pooler, transform of the MLM head).
std::string nvidia_name(std::string_view hugging_face_name);

/// Whether the name is of a buffer that follows from the shape of the model: position_ids, token_type_ids.
bool is_derived_buffer(std::string_view name);

}  // namespace bertpretrain
