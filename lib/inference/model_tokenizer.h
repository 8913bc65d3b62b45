#pragma once
// The tokenizer that belongs to a model.

#include <cstdint>
#include <memory>
#include <optional>

#include "inference/loaded_model.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

/// A tokenizer, and what the model's files say about its use.
struct ModelTokenizer {
    std::shared_ptr<const Tokenizer> tokenizer;
    Casing casing = Casing::uncased;
    std::optional<std::int64_t> max_length;  ///< tokens per text, with the special ones
    bool truncates_left = false;             ///< a longer text loses its beginning
    std::uint32_t files_crc32 = 0;           ///< a checksum of all that the ids depend on besides the casing
};

/// Opens the tokenizer of the model's folder. For a folder of another program, all files that transformers reads count
/// (folder_tokenizer.h). For a checkpoint, the casing is that of a tokenizer with rules of its own, else the recorded one, else
/// that of the vocabulary (choose_casing()).
/// @param wants_cased whether cased text is asked for
/// @param lowers_first whether text is put into lower case before anything else, as sentence-transformers can do
/// @throws ConfigError if the model has no tokenizer, or one with more tokens than the model or without a token for a role, or if
/// cased text is asked for, but the model, its vocabulary or its tokenizer's own rules say otherwise
/// @throws DataError naming the file and the field for what this program does not support
ModelTokenizer tokenizer_of(const LoadedModel& model, bool wants_cased, bool lowers_first = false);

}  // namespace bertpretrain
