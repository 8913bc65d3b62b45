#pragma once
// The shape of a self-proof's inputs, derived from a model.

#include "kernels/proof_operation.h"
#include "model/bert_config.h"

namespace bertpretrain {

/// @param longest_sequence of the training data
inline ProofShape proof_shape(const BertConfig& model, std::int64_t longest_sequence, at::ScalarType compute_dtype) {
    return {model.hidden_size,
            model.intermediate_size,
            model.num_attention_heads,
            model.vocab_size,
            longest_sequence,
            model.hidden_act == HiddenAct::gelu ? Activation::gelu_erf : Activation::gelu_tanh,
            compute_dtype};
}

}  // namespace bertpretrain
