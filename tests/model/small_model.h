#pragma once
// A small model with its parameters, and batches for it.

#include "batches/micro_batch.h"
#include "kernels/kernel_inputs.h"
#include "model/bert.h"

namespace bertpretrain::testing {

/// A model and its parameters.
struct Model {
    explicit Model(const BertConfig& config, at::ScalarType compute_dtype = at::kFloat, Bert::Choices choices = {})
        : parameters(ParameterLayout(bert_parameters(config).layout_order, 20'000, 1), compute_dtype, at::kCPU),
          bert(config, parameters, choices) {}

    FlatParameters parameters;
    Bert bert;

    /// Also randomizes biases and LayerNorms, so that all parameters affect the results.
    void randomize(std::uint64_t seed) {
        RandomTensors random(seed);
        for (const PlacedParameter& parameter : parameters.layout().parameters()) {
            const at::Tensor weight = parameters.weight(parameter.spec.name), numbers = random.normal(parameter.spec.shape);
            const bool is_norm_weight = !parameter.spec.decays && parameter.spec.name.ends_with(".weight");
            weight.copy_(is_norm_weight ? 1 + 0.2 * numbers : 0.1 * numbers);
        }
    }
};

/// A small model with unaligned sizes, with dropout.
inline BertConfig odd_config(const std::string& placement) {
    BertConfig config;
    config.hidden_size = 40;
    config.num_hidden_layers = 2;
    config.num_attention_heads = 5;
    config.intermediate_size = 72;
    config.vocab_size = 101;
    config.max_position_embeddings = 40;
    config.norm_placement = placement;
    return config;
}
inline const std::vector<std::string> placements{"post_ln", "pre_ln", "pre_ln_zero_residual"};

/// Random sequences of these lengths; all except those of length 1 have masked positions.
inline MicroBatch random_batch(const BertConfig& config, const std::vector<std::int64_t>& lengths, std::uint64_t seed = 1) {
    RandomTensors random(seed);
    const Ragged rows = ragged(lengths);
    std::vector<std::int64_t> masked;
    for (std::size_t b = 0; b < lengths.size(); ++b)
        for (std::int64_t place = 1; place < lengths[b]; place += 6) masked.push_back(rows.starts_B1[b] + place);
    MicroBatch batch;
    batch.input_ids_T = random.below(config.vocab_size, rows.tokens());
    batch.token_type_ids_T = random.below(config.type_vocab_size, rows.tokens());
    batch.position_ids_T = rows.rows.position_T;
    batch.masked_rows_M = at::tensor(masked, at::kLong);
    batch.masked_labels_M = random.below(config.vocab_size, batch.masked_rows_M.numel());
    batch.next_sentence_labels_B = random.below(2, static_cast<std::int64_t>(lengths.size()));
    batch.starts_B1 = rows.starts_B1;
    batch.sample_numbers_B = rows.samples_B;
    return batch;
}

/// Returns sequences [first, end) of a batch as a separate batch.
inline MicroBatch part_of(const MicroBatch& whole, std::int64_t first, std::int64_t end) {
    const auto begin = static_cast<std::size_t>(first), stop = static_cast<std::size_t>(end);
    const std::int64_t first_row = whole.starts_B1[begin], rows = whole.starts_B1[stop] - first_row;
    const at::Tensor inside_M = whole.masked_rows_M.ge(first_row).logical_and(whole.masked_rows_M.lt(first_row + rows));
    MicroBatch part;
    part.input_ids_T = whole.input_ids_T.narrow(0, first_row, rows).clone();
    part.token_type_ids_T = whole.token_type_ids_T.narrow(0, first_row, rows).clone();
    part.position_ids_T = whole.position_ids_T.narrow(0, first_row, rows).clone();
    part.masked_rows_M = whole.masked_rows_M.masked_select(inside_M) - first_row;
    part.masked_labels_M = whole.masked_labels_M.masked_select(inside_M);
    part.next_sentence_labels_B = whole.next_sentence_labels_B.narrow(0, first, end - first).clone();
    for (std::size_t b = begin; b <= stop; ++b) part.starts_B1.push_back(whole.starts_B1[b] - first_row);
    part.sample_numbers_B.assign(whole.sample_numbers_B.begin() + first, whole.sample_numbers_B.begin() + end);
    return part;
}

/// The scale that turns loss sums into means over `batch`.
inline LossScale mean_over(const MicroBatch& batch) {
    return {1.0 / static_cast<double>(batch.masked()), 1.0 / static_cast<double>(batch.sequences())};
}

/// Runs the batch and returns the four sums; adds to the model's gradients.
inline at::Tensor totals_of(const Model& model, const MicroBatch& batch, const LossScale& scale) {
    const at::Tensor totals_4 = new_totals(at::kCPU);
    model.bert.forward_backward(batch, scale, totals_4, {});
    return totals_4;
}
inline double loss_of(const at::Tensor& totals_4, const LossScale& scale) {
    return totals_4[0].item<double>() * scale.mlm + totals_4[2].item<double>() * scale.nsp;
}

}  // namespace bertpretrain::testing
