#pragma once
// Reads the normalizer and the pre-tokenizer of a tokenizer.json.

#include <optional>
#include <vector>

#include "tokens/definition/json_part.h"
#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// Returns the normalizer's steps. @param part nullopt: the section is null  @throws DataError for steps that are not supported
std::vector<Normalization> read_normalizations(const std::optional<JsonPart>& part);

/// Returns the pre-tokenizer's steps for byte-level BPE, without which this is none; empty without ByteLevel.
/// @throws DataError for steps that are not supported
std::vector<SplitStep> read_byte_level_splits(const std::optional<JsonPart>& part);
/// The same for Unigram, whose steps include Metaspace and not ByteLevel.
std::vector<SplitStep> read_unigram_splits(const std::optional<JsonPart>& part);

/// What BertNormalizer does to the text.
struct BertNormalization {
    Casing casing = Casing::uncased;
    bool splits_ideographs = true;
};

/// Reads a BertNormalizer. @param file the whole tokenizer.json
/// @throws DataError if it has no normalizer or another one, or one that does not clean text as BERT does
BertNormalization read_bert_normalizer(const JsonPart& file);

/// Returns the casing of text that is or is not lowered and stripped of accents.
Casing casing_for(bool lowers, bool strips_accents);

}  // namespace bertpretrain
