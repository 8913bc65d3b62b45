#pragma once
// A small model with its parameters, and batches for it.

#include <memory>
#include <numeric>
#include <utility>

#include "batches/build_batch.h"
#include "kernels/kernel_inputs.h"
#include "model/architecture.h"
#include "support/as_model.h"

namespace bertpretrain::testing {

/// A model and its parameters.
struct OwnedModel {
    explicit OwnedModel(const ModelConfig& config, at::ScalarType compute_dtype = at::kFloat, ModelChoices choices = {})
        : parameters(ParameterLayout(parameters_of(config).layout_order, 20'000, 1), compute_dtype, at::kCPU),
          model_(make_model(config, parameters, choices)) {}
    explicit OwnedModel(const BertConfig& config, at::ScalarType compute_dtype = at::kFloat, ModelChoices choices = {})
        : OwnedModel(as_model(config), compute_dtype, choices) {}

    Model& operator*() const { return *model_; }
    Model* operator->() const { return model_.get(); }

    FlatParameters parameters;

    /// Also randomizes biases and LayerNorms, so that all parameters affect the results.
    void randomize(std::uint64_t seed) {
        RandomTensors random(seed);
        for (const PlacedParameter& parameter : parameters.layout().parameters()) {
            const at::Tensor weight = parameters.weight(parameter.spec.name), numbers = random.normal(parameter.spec.shape);
            const bool is_norm_weight = !parameter.spec.decays && parameter.spec.name.ends_with(".weight");
            weight.copy_(is_norm_weight ? 1 + 0.2 * numbers : 0.1 * numbers);
        }
    }

private:
    std::unique_ptr<Model> model_;
};

/// Unaligned sizes.
inline void set_odd_size(auto& config, std::int64_t layers, std::int64_t intermediate_size) {
    config.hidden_size = 40;
    config.num_hidden_layers = layers;
    config.num_attention_heads = 5;
    config.intermediate_size = intermediate_size;
    config.vocab_size = 101;
    config.max_position_embeddings = 40;
}

/// A small model with unaligned sizes, with dropout.
inline BertConfig odd_config(const std::string& placement) {
    BertConfig config;
    set_odd_size(config, 2, 72);
    config.norm_placement = choice_named<NormPlacement>(placement);
    return config;
}
inline const std::vector<std::string> placements{"post_ln", "pre_ln", "pre_ln_zero_residual"};

/// A small ModernBERT with unaligned sizes, with dropout; layers 1 and 2 have a window of 3 tokens on each side.
inline ModelConfig odd_modernbert() {
    ModelConfig model;
    model.model_type = ModelType::modernbert;
    ModernBertConfig& config = model.modernbert;
    set_odd_size(config, 4, 72);
    config.local_attention = 6;
    config.attention_dropout = config.attention_output_dropout = 0.1;
    return model;
}

/// A small NeoBERT with unaligned sizes.
inline ModelConfig odd_neobert() {
    ModelConfig model;
    model.model_type = ModelType::neobert;
    NeoBertConfig& config = model.neobert;
    set_odd_size(config, 3, 108);
    return model;
}

/// A small model of each kind, with its name.
inline std::vector<std::pair<std::string, ModelConfig>> odd_models() {
    std::vector<std::pair<std::string, ModelConfig>> all{{"modernbert", odd_modernbert()}, {"neobert", odd_neobert()}};
    for (const std::string& placement : placements) all.emplace_back(placement, as_model(odd_config(placement)));
    return all;
}

inline std::vector<std::int64_t> values_of(const at::Tensor& tensor) {
    const at::Tensor plain = tensor.contiguous();
    return {plain.const_data_ptr<std::int64_t>(), plain.const_data_ptr<std::int64_t>() + plain.numel()};
}

/// Random sequences of these lengths; all except those of length 1 have masked positions.
inline UnpaddedSamples random_samples(const ModelConfig& config, const std::vector<std::int64_t>& lengths,
                                      std::uint64_t seed = 1) {
    RandomTensors random(seed);
    const Ragged rows = ragged(lengths);
    UnpaddedSamples samples;
    samples.lengths_B = lengths;
    samples.numbers_B = rows.layout.samples_B;
    for (std::size_t b = 0; b < lengths.size(); ++b)
        for (std::int64_t place = 1; place < lengths[b]; place += 6)
            samples.masked_rows_M.push_back(rows.layout.starts_B1[b] + place);
    samples.input_ids_T = values_of(random.below(shape_of(config).vocab_size, rows.tokens()));
    samples.token_type_ids_T = values_of(random.below(2, rows.tokens()));
    samples.masked_labels_M =
        values_of(random.below(shape_of(config).vocab_size, static_cast<std::int64_t>(samples.masked_rows_M.size())));
    samples.next_sentence_labels_B = values_of(random.below(2, static_cast<std::int64_t>(lengths.size())));
    return samples;
}

inline MicroBatch random_batch(const ModelConfig& config, const std::vector<std::int64_t>& lengths, std::uint64_t seed = 1) {
    return build_batch(random_samples(config, lengths, seed));
}
inline MicroBatch random_batch(const BertConfig& config, const std::vector<std::int64_t>& lengths, std::uint64_t seed = 1) {
    return random_batch(as_model(config), lengths, seed);
}

/// Returns sequences [first, end) as separate samples.
inline UnpaddedSamples part_of(const UnpaddedSamples& whole, std::int64_t first, std::int64_t end) {
    const auto sum_of_first = [&](std::int64_t sequences) {
        return std::accumulate(whole.lengths_B.begin(), whole.lengths_B.begin() + sequences, std::int64_t{0});
    };
    const std::int64_t first_row = sum_of_first(first), end_row = sum_of_first(end);
    const auto slice = [](const std::vector<std::int64_t>& values, std::int64_t begin, std::int64_t stop) {
        return std::vector<std::int64_t>(values.begin() + begin, values.begin() + stop);
    };
    UnpaddedSamples part;
    part.lengths_B = slice(whole.lengths_B, first, end);
    part.numbers_B = slice(whole.numbers_B, first, end);
    part.next_sentence_labels_B = slice(whole.next_sentence_labels_B, first, end);
    part.input_ids_T = slice(whole.input_ids_T, first_row, end_row);
    part.token_type_ids_T = slice(whole.token_type_ids_T, first_row, end_row);
    for (std::size_t m = 0; m < whole.masked_rows_M.size(); ++m) {
        if (whole.masked_rows_M[m] < first_row || whole.masked_rows_M[m] >= end_row) continue;
        part.masked_rows_M.push_back(whole.masked_rows_M[m] - first_row);
        part.masked_labels_M.push_back(whole.masked_labels_M[m]);
    }
    return part;
}

/// The scale that turns loss sums into means over `batch`.
inline LossScale mean_over(const MicroBatch& batch) {
    return {1.0 / static_cast<double>(batch.masked()), 1.0 / static_cast<double>(batch.sequences())};
}

/// Runs the batch and returns its sums; adds to the model's gradients.
inline LossSums sums_of(const OwnedModel& model, const MicroBatch& batch, const LossScale& scale) {
    const LossSums sums(at::kCPU);
    model->forward_backward(batch, scale, sums, {});
    return sums;
}
inline double loss_of(const LossSums& sums, const LossScale& scale) {
    return sums.values().mlm_loss * scale.mlm + sums.values().nsp_loss * scale.nsp;
}

}  // namespace bertpretrain::testing
