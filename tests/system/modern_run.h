#pragma once
// Short runs of the other architectures, about as long as those of small_run.h.

#include "system/small_run.h"

namespace bertpretrain::testing {

/// small_experiment() as a ModernBERT of four layers, two of them with a window of 4 tokens on each side, with StableAdamW and
/// dynamic masks. @param changes a merge patch on top
inline std::filesystem::path modern_experiment(const TemporaryFolder& folder,
                                               const nlohmann::json& changes = nlohmann::json::object()) {
    nlohmann::json patch{{"model", nlohmann::json::object()},
                         {"data",
                          {{"training_shards", shards_without_labels().string()},
                           {"objective", "mlm"},
                           {"masking", "dynamic"},
                           {"masked_lm_prob", 0.3}}},
                         {"optimizer", {{"name", "stable_adamw"}, {"max_grad_norm", 0.0}}}};
    const nlohmann::json before = small_experiment();
    for (const auto& [name, value] : before.at("model").items()) patch["model"][name] = nullptr;
    patch["model"].update({{"model_type", "modernbert"},
                           {"hidden_size", 64},
                           {"num_hidden_layers", 4},
                           {"num_attention_heads", 4},
                           {"intermediate_size", 96},
                           {"vocab_size", 800},
                           {"max_position_embeddings", 64},
                           {"local_attention", 8},
                           {"attention_dropout", 0.1}});
    patch.merge_patch(changes);
    return write_experiment(folder, patch);
}

/// The same as a NeoBERT of three layers.
inline std::filesystem::path neobert_experiment(const TemporaryFolder& folder,
                                                const nlohmann::json& changes = nlohmann::json::object()) {
    nlohmann::json patch{
        {"model",
         {{"model_type", "neobert"}, {"num_hidden_layers", 3}, {"local_attention", nullptr}, {"attention_dropout", nullptr}}}};
    patch.merge_patch(changes);
    return modern_experiment(folder, patch);
}

}  // namespace bertpretrain::testing
