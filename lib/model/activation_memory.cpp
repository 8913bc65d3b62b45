#include "model/activation_memory.h"

#include <algorithm>

namespace bertpretrain {
namespace {

constexpr double fp32_size = 4;  // bytes of an fp32 element

/// Bytes per token that a layer's attention keeps: qkv, context and log-sum-exps.
double kept_by_attention(const BertConfig& config, double compute_bytes) {
    return compute_bytes * 4 * static_cast<double>(config.hidden_size) +
           fp32_size * static_cast<double>(config.num_attention_heads);
}

/// Bytes per row that a layer keeps after its attention: two norms (sum, normed, two statistics), and input and output of the
/// activation.
double kept_after_attention(const BertConfig& config, double compute_bytes) {
    const auto hidden = static_cast<double>(config.hidden_size), intermediate = static_cast<double>(config.intermediate_size);
    return 2 * (fp32_size * hidden + compute_bytes * hidden + 2 * fp32_size) + 2 * compute_bytes * intermediate;
}

}  // namespace

std::uint64_t activation_bytes(const BertConfig& config, const ActivationShape& shape) {
    const double compute_bytes = shape.bf16 ? 2 : 4;
    const auto hidden = static_cast<double>(config.hidden_size), intermediate = static_cast<double>(config.intermediate_size);
    const auto vocabulary = static_cast<double>(config.vocab_size), layers = static_cast<double>(config.num_hidden_layers);
    const auto tokens = static_cast<double>(shape.tokens), masked = static_cast<double>(shape.masked);
    const double read = masked + static_cast<double>(shape.sequences);
    const double attention = kept_by_attention(config, compute_bytes) + shape.mask_bytes,
                 after = kept_after_attention(config, compute_bytes);
    const double stream = tokens * (compute_bytes + fp32_size) * hidden;

    const double whole_layer = tokens * (attention + after);
    const double last_layer = tokens * attention + read * after;
    const double embeddings = tokens * (2 * fp32_size + compute_bytes) * hidden;
    const double kept =
        embeddings + (shape.checkpointing ? layers * stream + whole_layer : (layers - 1) * whole_layer + last_layer);
    // a weight gradient from a matmul is rounded in a separate matrix before it is accumulated
    const double head = masked * (compute_bytes * vocabulary + (3 * fp32_size + 3 * compute_bytes) * hidden) +
                        compute_bytes * vocabulary * hidden;
    const double backward = tokens * (2 * compute_bytes * intermediate + (6 * compute_bytes + 3 * fp32_size) * hidden) +
                            compute_bytes * hidden * intermediate;
    return static_cast<std::uint64_t>(kept + std::max(head, backward));
}

}  // namespace bertpretrain
