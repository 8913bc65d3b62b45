#pragma once
// What a forward and backward pass keeps beside the parameters.

#include <cstdint>

#include "model/bert_config.h"

namespace bertpretrain {

/// A micro-batch, and how it is computed.
struct ActivationShape {
    std::int64_t sequences = 16, tokens = 2048, masked = 320;
    bool bf16 = true;
    bool checkpointing = false;
};

/// Bytes at the fullest moment of a pass: what the layers keep for their backward (see LayerState), and the larger of what the
/// MLM head and the last layer's backward need besides.
std::uint64_t activation_bytes(const BertConfig& config, const ActivationShape& shape);

}  // namespace bertpretrain
