#include "model/config_json.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::span<const ForeignField> fields_of_all() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"_attn_implementation", nothing},
        {"_name_or_path", nothing},
        {"adapters", refused, "[{}]"},
        {"allow_global_per_layer_attribute_access", nothing},
        {"architectures", nothing},
        {"attn_implementation", nothing},
        {"attribute_map", refused, "[{}]"},  // other names for fields
        {"auto_map", refused, "[{}]"},       // code of the model's own
        {"bos_token_id", nothing},
        {"chunk_size_feed_forward", nothing},
        {"classifier_dropout", nothing},
        {"cls_token_id", nothing},
        {"dtype", nothing},  // this program computes in the dtype that --precision names
        {"eos_token_id", nothing},
        {"finetuning_task", nothing},
        {"gradient_checkpointing", nothing},
        {"hidden_size", obeyed},
        {"id2label", nothing},
        {"initializer_range", obeyed},
        {"intermediate_size", obeyed},
        {"is_decoder", refused, "[false]"},  // attention to earlier tokens only
        {"is_encoder_decoder", refused, "[false]"},
        {"label2id", nothing},
        {"max_position_embeddings", obeyed},
        {"model_type", obeyed},
        {"num_attention_heads", obeyed},
        {"num_hidden_layers", obeyed},
        {"num_labels", nothing},
        {"output_attentions", nothing},
        {"output_hidden_states", nothing},
        {"per_layer_config", refused, "[{}]"},  // other values for some layers
        {"problem_type", nothing},
        {"quantization_config", refused, "[{}]"},
        {"return_dict", nothing},
        {"sep_token_id", nothing},
        {"task_specific_params", nothing},
        {"tie_word_embeddings", refused, "[true]"},
        {"tokenizer_class", obeyed},
        {"torch_dtype", nothing},
        {"torchscript", nothing},
        {"transformers_version", nothing},
        {"use_bfloat16", nothing},
        {"use_cache", nothing},
        {"vocab_size", obeyed},
    });
    return fields;
}

}  // namespace

void check_config_json(const nlohmann::json& config, std::span<const ForeignField> of_type, const std::string& file) {
    std::vector<ForeignField> fields(of_type.begin(), of_type.end());
    for (const ForeignField& field : fields_of_all())
        if (std::ranges::find(of_type, field.name, &ForeignField::name) == of_type.end()) fields.push_back(field);
    check_foreign_fields(config, fields, [&](const std::string& what) { throw CheckpointError(concat(file, ": ", what)); });
}

}  // namespace bertpretrain
