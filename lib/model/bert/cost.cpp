#include "model/bert/cost.h"

#include <algorithm>
#include <utility>

#include "model/heads.h"

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
double kept_after_attention(const BertConfig& config, const ActivationShape& shape) {
    const double compute_bytes = shape.compute_bytes(), operand_bytes = shape.operand_bytes();
    const auto hidden = static_cast<double>(config.hidden_size), intermediate = static_cast<double>(config.intermediate_size);
    return 2 * (shape.residual_bytes() * hidden + operand_bytes * hidden + 2 * fp32_size) +
           (compute_bytes + operand_bytes) * intermediate;
}

}  // namespace

ModelShape shape_of(const BertConfig& config) {
    return {config.hidden_size,
            config.intermediate_size,
            config.num_attention_heads,
            config.vocab_size,
            config.max_position_embeddings,
            config.next_sentence,
            config.attention_probs_dropout_prob,
            activation_of(config)};
}

double model_flops(const BertConfig& config, double tokens, double square_lengths, double masked, double sequences) {
    const auto h = static_cast<double>(config.hidden_size), f = static_cast<double>(config.intermediate_size);
    const auto layers = static_cast<double>(config.num_hidden_layers), v = static_cast<double>(config.vocab_size);
    const double next_sentences = config.next_sentence ? 6 * sequences * (h * h + 2 * h) : 0;
    return 6 * layers * (4 * h * h + 2 * h * f) * tokens + 12 * layers * h * square_lengths + 6 * masked * (h * h + h * v) +
           next_sentences;
}

std::vector<double> stage_shares(const BertConfig& config, double tokens_per_sequence, double masked_per_sequence) {
    const double square_length = tokens_per_sequence * tokens_per_sequence;
    const double whole = model_flops(config, tokens_per_sequence, square_length, masked_per_sequence, 1);
    const double of_layers = model_flops(config, tokens_per_sequence, square_length, 0, 0);
    const auto layers = static_cast<double>(config.num_hidden_layers);
    const double of_layer = of_layers / whole / layers;
    const auto H = static_cast<double>(config.hidden_size), F = static_cast<double>(config.intermediate_size);
    const double feed_forward = H * F / (2 * H * H + H * F + tokens_per_sequence * H);
    std::vector<double> shares{1 - of_layers / whole};
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
        shares.push_back(of_layer * feed_forward);
        shares.push_back(of_layer * (1 - feed_forward));
    }
    shares.push_back(0);  // the embeddings, whose cost is negligible
    return shares;
}

std::uint64_t activation_bytes(const BertConfig& config, const ActivationShape& shape) {
    const double compute_bytes = shape.compute_bytes(), residual_bytes = shape.residual_bytes();
    const auto hidden = static_cast<double>(config.hidden_size), intermediate = static_cast<double>(config.intermediate_size);
    const auto vocabulary = static_cast<double>(config.vocab_size), layers = static_cast<double>(config.num_hidden_layers);
    const auto tokens = static_cast<double>(shape.tokens), masked = static_cast<double>(shape.masked);
    const double read = masked + static_cast<double>(shape.sequences);
    const double attention = kept_by_attention(config, compute_bytes) + shape.mask_bytes,
                 after = kept_after_attention(config, shape);
    const double stream = tokens * (compute_bytes + residual_bytes) * hidden;

    const double whole_layer = tokens * (attention + after);
    const double last_layer = tokens * attention + read * after;
    const double embeddings = tokens * (fp32_size + residual_bytes + compute_bytes) * hidden;
    const double kept =
        embeddings + (shape.checkpointing ? layers * stream + whole_layer : (layers - 1) * whole_layer + last_layer);
    // a weight gradient from a matmul is rounded in a separate matrix before it is accumulated
    const double logits = std::min(masked * vocabulary, static_cast<double>(HeadContext::most_logits));
    const double head =
        compute_bytes * logits + masked * (3 * fp32_size + 3 * compute_bytes) * hidden + compute_bytes * vocabulary * hidden;
    const double backward =
        tokens * ((2 * compute_bytes + shape.widened_bytes) * intermediate + (6 * compute_bytes + 3 * residual_bytes) * hidden) +
        compute_bytes * hidden * intermediate;
    const double fp8 = shape.fp8_bytes(layers * (4 * hidden * hidden + 2 * hidden * intermediate),
                                       std::max(3 * hidden, intermediate), layers * hidden, hidden * intermediate);
    return static_cast<std::uint64_t>(kept + std::max(head, backward) + fp8);
}

std::vector<LinearShape> matmuls_of(const BertConfig& config) {
    const std::int64_t H = config.hidden_size, F = config.intermediate_size;
    std::vector<LinearShape> shapes;
    for (const auto& [outputs, inputs] : {std::pair{3 * H, H}, {H, H}, {F, H}, {H, F}, {config.vocab_size, H}})
        for (const LinearMatmul kind : {LinearMatmul::forward, LinearMatmul::input_gradient, LinearMatmul::weight_gradient})
            shapes.push_back({kind, outputs, inputs});
    return shapes;
}

}  // namespace bertpretrain
