#pragma once
// The size of a micro-batch, and how it is computed, as far as memory depends on it.

#include <cstdint>

namespace bertpretrain {

struct ActivationShape {
    std::int64_t sequences = 16, tokens = 2048, masked = 320;
    bool bf16 = true;
    bool checkpointing = false;
    /// In which a layer's attention keeps its dropout masks, per token: of all keys, and within the model's window.
    double mask_bytes = 0, local_mask_bytes = 0;
};

}  // namespace bertpretrain
