#include "model/modern/neobert_config.h"

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {

std::string summary_of(const NeoBertConfig& config) {
    return concat("neobert, ", config.num_hidden_layers, " layers, hidden size ", config.hidden_size, ", ",
                  config.num_attention_heads, " heads, gated feed-forward ", design_of(config).intermediate, ", vocabulary ",
                  with_thousands(config.vocab_size), ", up to ", config.max_position_embeddings, " tokens");
}

void check_settings(const NeoBertConfig& config) { modern::check_size(config); }

modern::Design design_of(const NeoBertConfig& config) {
    modern::Design design;
    design.hidden = config.hidden_size;
    design.layers = config.num_hidden_layers;
    design.heads = config.num_attention_heads;
    design.intermediate = (2 * config.intermediate_size / 3 + 7) / 8 * 8;
    design.vocabulary = config.vocab_size;
    design.positions = config.max_position_embeddings;
    design.norm = NormKind::rms;
    design.eps = config.norm_eps;
    design.activation = Activation::silu;
    design.norms_embeddings = false;
    design.transforms = false;
    design.initial = InitialValues::uniform;
    design.initial_words = config.embedding_init_range;
    design.initial_inner = design.initial_outer = design.initial_decoder = config.decoder_init_range;
    return design;
}

}  // namespace bertpretrain
