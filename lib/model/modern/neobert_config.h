#pragma once
// The settings of NeoBERT, with the names of its authors' NeoBERTConfig. The defaults are those of the published model.

#include <cstdint>
#include <string>

#include "model/modern/common_settings.h"
#include "model/modern/design.h"

namespace bertpretrain {

struct NeoBertConfig {
    std::int64_t hidden_size = 768;
    std::int64_t num_hidden_layers = 28;
    std::int64_t num_attention_heads = 12;
    std::int64_t intermediate_size = 3072;
    std::int64_t vocab_size = 0;  ///< 0: "auto", which plan/resolve.h decides
    std::int64_t max_position_embeddings = 4096;
    double norm_eps = 1e-5;
    double embedding_init_range = 0.02;
    double decoder_init_range = 0.02;

    static void describe(auto& self, auto&& field) {
        modern::describe_size(self, field);
        field(
            "intermediate_size", self.intermediate_size, between(8, 16777216),
            "Features of a feed-forward part without a gate that has as many parameters. The gated part has two thirds as many, "
            "rounded up to a multiple of 8.");
        field("max_position_embeddings", self.max_position_embeddings, between(8, 65536),
              "Longest sequence that the model supports, in tokens. NeoBERT's own files call it max_length.");
        field("norm_eps", self.norm_eps, between(0, 0.01), "Constant added to the mean square in RMSNorm.");
        field("embedding_init_range", self.embedding_init_range, between(0, 1),
              "The initial word embeddings are uniform between this number and its negative.");
        field("decoder_init_range", self.decoder_init_range, between(0, 1),
              "All other initial matrices are uniform between this number and its negative.");
    }
};

std::string summary_of(const NeoBertConfig& config);
/// @throws ConfigError naming settings that contradict each other
void check_settings(const NeoBertConfig& config);
modern::Design design_of(const NeoBertConfig& config);

}  // namespace bertpretrain
