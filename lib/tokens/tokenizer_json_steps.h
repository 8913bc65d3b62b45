#pragma once
// Reads the normalizer and the pre-tokenizer of a tokenizer.json.

#include <optional>
#include <vector>

#include "tokens/json_part.h"
#include "tokens/tokenizer_definition.h"

namespace bertpretrain {

/// Return the steps of byte-level BPE. @param part nullopt: the section is null  @throws DataError for steps that are not
/// supported
std::vector<Normalization> read_normalizations(const std::optional<JsonPart>& part);
std::vector<SplitStep> read_splits(const std::optional<JsonPart>& part);

/// Returns the casing of BertNormalizer. @throws DataError for other normalizers, or if they do not clean text as BERT does
Casing read_bert_normalizer(const JsonPart& part);

}  // namespace bertpretrain
