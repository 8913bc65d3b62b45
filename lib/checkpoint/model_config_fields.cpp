#include "checkpoint/model_config_fields.h"

#include <array>

namespace bertpretrain {

std::span<const ForeignField> model_config_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"_attn_implementation", nothing},
        {"_name_or_path", nothing},
        {"adapters", refused, "[{}]"},
        {"add_cross_attention", refused, "[false]"},
        {"architectures", nothing},
        {"attention_probs_dropout_prob", obeyed},
        {"attn_implementation", nothing},
        {"auto_map", refused, "[{}]"},  // code of the model's own
        {"bos_token_id", nothing},
        {"chunk_size_feed_forward", nothing},
        {"classifier_dropout", nothing},
        {"cls_token_id", nothing},
        {"cross_attention_hidden_size", nothing},
        {"directionality", refused, R"(["bidi"])"},
        {"dtype", nothing},  // this program computes in the dtype that --precision names
        {"embedding_size", nothing},
        {"eos_token_id", nothing},
        {"finetuning_task", nothing},
        {"gradient_checkpointing", nothing},
        {"hidden_act", obeyed},
        {"hidden_dropout_prob", obeyed},
        {"hidden_size", obeyed},
        {"id2label", nothing},
        {"initializer_range", obeyed},
        {"intermediate_size", obeyed},
        {"is_decoder", refused, "[false]"},  // attention to earlier tokens only
        {"is_encoder_decoder", refused, "[false]"},
        {"label2id", nothing},
        {"layer_norm_eps", obeyed},
        {"max_position_embeddings", obeyed},
        {"model_type", obeyed},
        {"norm_placement", nothing},  // our exports have it; model_type decides
        {"num_attention_heads", obeyed},
        {"num_hidden_layers", obeyed},
        {"num_labels", nothing},
        {"output_attentions", nothing},
        {"output_hidden_states", nothing},
        {"output_past", nothing},
        {"pad_token_id", nothing},
        {"pooler_fc_size", nothing},  // of Google's files; no program acts on the pooler's fields
        {"pooler_num_attention_heads", nothing},
        {"pooler_num_fc_layers", nothing},
        {"pooler_size_per_head", nothing},
        {"pooler_type", nothing},
        {"position_embedding_type", refused, R"(["absolute"])"},
        {"problem_type", nothing},
        {"pruned_heads", refused, "[{}]"},
        {"quantization_config", refused, "[{}]"},
        {"return_dict", nothing},
        {"sep_token_id", nothing},
        {"task_specific_params", nothing},
        {"tie_encoder_decoder", nothing},
        {"tie_word_embeddings", refused, "[true]"},
        {"tokenizer_class", obeyed},
        {"torch_dtype", nothing},
        {"torchscript", nothing},
        {"transformers_version", nothing},
        {"type_vocab_size", obeyed},
        {"use_bfloat16", nothing},
        {"use_cache", nothing},
        {"vocab_size", obeyed},
    });
    return fields;
}

}  // namespace bertpretrain
