#pragma once
// Packs documents' sentences into samples without next sentences, as RoBERTa's DOC-SENTENCES and FULL-SENTENCES.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shards/build/documents.h"
#include "shards/shard_rows.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

struct PackSettings {
    std::int64_t sequence_length = 128;  ///< maximum tokens of a sample including special ones; 5 to 65,536
    bool across_documents = false;       ///< whether a sample may continue with the next document, after a [SEP]
};

/// Consecutive tokens of Documents: the text of [CLS] text [SEP], with another [SEP] wherever a document ends inside it.
struct PackedText {
    std::uint32_t begin = 0;
    std::uint32_t document = 0;  ///< of the first token
    std::uint16_t size = 0;      ///< tokens of text
    std::uint16_t separators = 0;

    std::size_t length() const { return std::size_t{size} + separators + 2; }
};

/// Packs whole sentences, as many as fit, in the order of the documents. A sentence longer than a sample is divided into samples
/// of its own; the last of them continues with the following sentences.
std::vector<PackedText> pack_documents(const Documents& documents, const PackSettings& settings);

/// Returns the number of tokens in all samples, including [CLS] and [SEP].
std::int64_t total_length(std::span<const PackedText> packs);

/// Writes a sample and its input mask to a row of zeros; its segments stay 0.
/// @returns the row's tokens, without padding, for the caller to mask in place
std::span<std::int32_t> put_packed(const Documents& documents, const PackedText& pack, const SpecialIds& special_ids,
                                   ShardRows& rows, std::int64_t row);

}  // namespace bertpretrain
