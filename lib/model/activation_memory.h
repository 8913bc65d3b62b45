#pragma once
// The memory that a forward and backward pass needs besides the parameters.

#include <cstdint>

#include "model/bert_config.h"

namespace bertpretrain {

/// The size of a micro-batch, and how it is computed.
struct ActivationShape {
    std::int64_t sequences = 16, tokens = 2048, masked = 320;
    bool bf16 = true;
    bool checkpointing = false;
    double mask_bytes = 0;  ///< in which a layer's attention keeps its dropout masks, per token
};

/// Returns the peak memory of a pass in bytes: what the layers keep for their backward (see LayerState), plus the larger of the
/// temporary memory of the MLM head and of the last layer's backward.
std::uint64_t activation_bytes(const BertConfig& config, const ActivationShape& shape);

}  // namespace bertpretrain
