#include "model/modern/cost.h"

#include <algorithm>
#include <utility>

#include "model/heads.h"

namespace bertpretrain::modern {
namespace {

constexpr double fp32_size = 4;  // bytes of an fp32 element

double number(std::int64_t count) { return static_cast<double>(count); }

/// Operations of a layer's attention, forward and backward. @param square_lengths sum of squared sequence lengths
double attention_flops(const Design& design, bool is_global, double tokens, double square_lengths) {
    const double of_window = tokens * (2 * number(design.window) + 1);
    return 12 * number(design.hidden) * (is_global ? square_lengths : std::min(square_lengths, of_window));
}

/// Bytes per token that a layer's attention keeps: qkv, context and log-sum-exps.
double kept_by_attention(const Design& design, double compute_bytes) {
    return compute_bytes * 4 * number(design.hidden) + fp32_size * number(design.heads);
}

/// Bytes per row that a layer keeps after its attention: two norms (sum, normed, two statistics), and input and output of the
/// gated activation.
double kept_after_attention(const Design& design, const ActivationShape& shape) {
    return 2 * ((shape.residual_bytes() + shape.operand_bytes()) * number(design.hidden) + 2 * fp32_size) +
           (2 * shape.compute_bytes() + shape.operand_bytes()) * number(design.intermediate);
}

}  // namespace

ModelShape shape_of(const Design& design) {
    ModelShape shape{design.hidden, design.intermediate,      design.heads,     design.vocabulary, design.positions,
                     false,         design.attention_dropout, design.activation};
    shape.is_gated = shape.is_rotary = true;
    if (design.local_layers() > 0) shape.window = design.window;
    return shape;
}

double model_flops(const Design& design, double tokens, double square_lengths, double masked, double) {
    const double H = number(design.hidden), F = number(design.intermediate), V = number(design.vocabulary);
    const double local = number(design.local_layers()), global = number(design.layers) - local;
    return 6 * number(design.layers) * (4 * H * H + 3 * H * F) * tokens +
           global * attention_flops(design, true, tokens, square_lengths) +
           local * attention_flops(design, false, tokens, square_lengths) +
           6 * masked * ((design.transforms ? H * H : 0) + H * V);
}

std::vector<double> stage_shares(const Design& design, double tokens_per_sequence, double masked_per_sequence) {
    const double tokens = tokens_per_sequence, squares = tokens * tokens, H = number(design.hidden),
                 whole = model_flops(design, tokens, squares, masked_per_sequence, 1),
                 feed_forward = 18 * H * number(design.intermediate) * tokens;
    std::vector<double> shares{1 - model_flops(design, tokens, squares, 0, 0) / whole};
    for (std::int64_t i = design.layers; i-- > 0;) {
        shares.push_back(feed_forward / whole);
        shares.push_back((24 * H * H * tokens + attention_flops(design, design.is_global(i), tokens, squares)) / whole);
    }
    shares.push_back(0);  // the embeddings, whose cost is negligible
    return shares;
}

std::uint64_t activation_bytes(const Design& design, const ActivationShape& shape) {
    const double compute_bytes = shape.compute_bytes(), residual_bytes = shape.residual_bytes(), H = number(design.hidden),
                 F = number(design.intermediate), V = number(design.vocabulary), layers = number(design.layers),
                 tokens = number(shape.tokens), masked = number(shape.masked), read = masked + number(shape.sequences);
    const double local = number(design.local_layers()),
                 masks = (local * shape.local_mask_bytes + (layers - local) * shape.mask_bytes) / layers;
    const double attention = kept_by_attention(design, compute_bytes) + masks,  // of a mean layer
        after = kept_after_attention(design, shape);
    const double stream = tokens * (compute_bytes + residual_bytes) * H;

    const double whole_layer = tokens * (attention + after), largest_layer = whole_layer + tokens * (shape.mask_bytes - masks);
    const double last_layer = tokens * attention + read * after;
    const double embeddings = tokens * (residual_bytes + compute_bytes) * H;
    const double kept =
        embeddings + (shape.checkpointing ? layers * stream + largest_layer : (layers - 1) * whole_layer + last_layer);
    // a weight gradient from a matmul is rounded in a separate matrix before it is accumulated
    const double logits = std::min(masked * V, static_cast<double>(HeadContext::most_logits));
    const double head_rows = design.transforms ? 3 * fp32_size + 3 * compute_bytes : fp32_size + 2 * compute_bytes;
    const double head = compute_bytes * logits + masked * head_rows * H + compute_bytes * V * H;
    // the gradient of value and gate is packed where it is widened, when their product's gradient is no longer there
    const double of_intermediate = std::max(3 * compute_bytes, 2 * compute_bytes + 2 * shape.widened_bytes);
    const double backward =
        tokens * (of_intermediate * F + (3 * compute_bytes + 3 * residual_bytes) * H) + 2 * compute_bytes * H * F;
    const double fp8 = shape.fp8_bytes(layers * (4 * H * H + 3 * H * F), std::max(3 * H, 2 * F), layers * H, 2 * H * F);
    return static_cast<std::uint64_t>(kept + std::max(head, backward) + fp8);
}

std::vector<LinearShape> matmuls_of(const Design& design) {
    const std::int64_t H = design.hidden, F = design.intermediate;
    std::vector<LinearShape> shapes;
    for (const auto& [outputs, inputs] : {std::pair{3 * H, H}, {H, H}, {2 * F, H}, {H, F}, {design.vocabulary, H}})
        for (const LinearMatmul kind : {LinearMatmul::forward, LinearMatmul::input_gradient, LinearMatmul::weight_gradient})
            shapes.push_back({kind, outputs, inputs});
    return shapes;
}

}  // namespace bertpretrain::modern
