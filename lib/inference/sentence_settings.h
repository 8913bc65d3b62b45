#pragma once
// How a folder of sentence-transformers says that its model makes vectors of texts.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "config/foreign_fields.h"

namespace bertpretrain {

struct SentenceSettings {
    std::optional<std::int64_t> max_length;  ///< max_seq_length: tokens per text, [CLS] and [SEP] included
    std::string pooling = "mean";            ///< "mean", "cls", or the names of other ways
    bool normalizes = false;                 ///< whether vectors are scaled to length 1
    bool lowers_first = false;               ///< do_lower_case: text is put into lower case before it is tokenized
    std::string prompt;                      ///< of default_prompt_name: stands before each text
};

/// Reads modules.json, the settings of its Transformer and Pooling modules, and config_sentence_transformers.json. Returns
/// nullopt for a folder without modules.json.
/// @throws ConfigError naming the file and the field for what `embed` cannot apply; CheckpointError for a damaged file
std::optional<SentenceSettings> read_sentence_settings(const std::filesystem::path& folder);

/// The known fields of the module Transformer (sentence_bert_config.json), of Pooling (config.json), and of
/// config_sentence_transformers.json. sentence-transformers accepts no others in the first two, nor does this program.
std::span<const ForeignField> transformer_module_fields();
std::span<const ForeignField> pooling_module_fields();
std::span<const ForeignField> sentence_model_fields();

}  // namespace bertpretrain
