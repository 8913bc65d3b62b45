#pragma once
// How a folder of sentence-transformers says that its model makes vectors of texts.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bertpretrain {

struct SentenceSettings {
    std::optional<std::int64_t> max_length;  ///< max_seq_length: tokens per text, [CLS] and [SEP] included
    std::string pooling = "mean";            ///< "mean", "cls", or the name of another way
    bool normalizes = false;                 ///< whether vectors are scaled to length 1
};

/// Reads modules.json, sentence_bert_config.json and the pooling module's config.json. Returns nullopt for a folder without
/// modules.json. @throws ConfigError for a module that `embed` cannot apply; CheckpointError for a damaged file
std::optional<SentenceSettings> read_sentence_settings(const std::filesystem::path& folder);

}  // namespace bertpretrain
