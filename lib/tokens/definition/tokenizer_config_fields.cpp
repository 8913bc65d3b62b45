#include "tokens/definition/tokenizer_config_fields.h"

#include <array>

namespace bertpretrain {

std::span<const ForeignField> tokenizer_config_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"add_bos_token", nothing},  // acts only on classes that are refused
        {"add_eos_token", nothing},
        {"add_prefix_space", obeyed},  // by the classes of RoBERTa, XLM-R and CamemBERT, which alone have it
        {"added_tokens_decoder", obeyed},
        {"additional_special_tokens", obeyed},
        {"auto_map", refused, "[{}]"},  // code of the model's own
        {"backend", nothing},
        {"bos_token", obeyed},
        {"chat_template", nothing},
        {"clean_text", refused, "[true]"},
        {"clean_up_tokenization_spaces", nothing},  // acts when ids become text
        {"cls_token", obeyed},
        {"do_basic_tokenize", refused, "[true]"},  // obeyed by transformers before 5
        {"do_lower_case", obeyed},
        {"eos_token", obeyed},
        {"extra_special_tokens", obeyed},
        {"fast_tokenizer_files", refused, "[[]]"},
        {"is_local", nothing},
        {"legacy", obeyed},  // by SentencePieceBackend, where false is refused
        {"local_files_only", nothing},
        {"mask_token", obeyed},
        {"max_len", obeyed},
        {"max_length", nothing},  // of a call
        {"model_input_names", obeyed},
        {"model_max_length", obeyed},
        {"name_or_path", nothing},
        {"never_split", refused, "[[]]"},  // obeyed by transformers before 5
        {"pad_to_multiple_of", nothing},
        {"pad_token", obeyed},
        {"pad_token_type_id", nothing},
        {"padding_side", refused, R"(["right"])"},  // padding at the left shifts positions
        {"processor_class", nothing},
        {"sep_token", obeyed},
        {"sp_model_kwargs", obeyed},  // likewise, where anything but {} is refused
        {"special_tokens_map_file", nothing},
        {"special_tokens_pattern", refused, R"(["cls_sep"])"},
        {"split_special_tokens", refused, "[false]"},
        {"stride", nothing},
        {"strip_accents", obeyed},
        {"token_type_ids_include_special_tokens", obeyed},  // likewise, where false is refused
        {"token_type_ids_pattern", refused, R"(["bert_style", "all_zeros"])"},
        {"tokenize_chinese_chars", obeyed},
        {"tokenizer_class", obeyed},
        {"tokenizer_file", nothing},
        {"transformers_version", nothing},
        {"truncation", nothing},
        {"truncation_side", obeyed},
        {"truncation_strategy", nothing},
        {"unk_id", nothing},  // transformers writes SentencePiece's, and reads the tokenizer.json's
        {"unk_token", obeyed},
        {"use_fast", nothing},
        {"vocab_file", nothing},
        {"vocab_size", nothing},
        {"wordpieces_prefix", refused, R"(["##"])"},
    });
    return fields;
}

}  // namespace bertpretrain
