#pragma once
// Packs documents into rows without next sentences: whole sentences in turn, as RoBERTa's DOC-SENTENCES and FULL-SENTENCES, or
// whole documents by best-fit.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shards/build/documents.h"
#include "shards/shard_rows.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

struct PackSettings {
    std::int64_t sequence_length = 128;  ///< maximum tokens of a row including special ones; 5 to 65,536
    bool across_documents = false;       ///< whether a row may continue with the next document, after a [SEP]
    bool best_fit = false;               ///< whether a row may hold any documents, each a sequence of its own
};

/// Consecutive tokens of one document.
struct TextPiece {
    std::uint32_t begin = 0;
    std::uint16_t size = 0;
};

/// Rows of pieces. A row is [CLS] piece [SEP] piece [SEP] ...; with best_fit each piece has a [CLS] of its own.
class PackedText {
public:
    /// @param ends by row, the index after its last piece
    PackedText(std::vector<TextPiece> pieces, std::vector<std::uint32_t> ends, bool best_fit)
        : pieces_(std::move(pieces)), ends_(std::move(ends)), best_fit_(best_fit) {}

    std::size_t rows() const { return ends_.size(); }
    std::span<const TextPiece> row(std::size_t row) const {
        const std::uint32_t begin = row == 0 ? 0 : ends_[row - 1];
        return std::span(pieces_).subspan(begin, ends_[row] - begin);
    }
    /// Returns the tokens of a row, including [CLS] and [SEP].
    std::size_t length(std::size_t row) const;
    /// Returns the tokens of all rows, including [CLS] and [SEP].
    std::int64_t total_length() const;
    bool best_fit() const { return best_fit_; }

private:
    std::vector<TextPiece> pieces_;
    std::vector<std::uint32_t> ends_;
    bool best_fit_;
};

/// A pure function of its arguments. Every token is in one row.
///
/// Without best_fit, packs whole sentences, as many as fit, in the order of the documents. A sentence longer than a row is
/// divided into rows of its own; the last of them continues with the following sentences.
///
/// With best_fit, a document longer than a row is first divided into pieces that fill a row, and a rest. Each piece, the longest
/// first, is added to the row with the least room that suffices, or begins a row (best-fit decreasing; Ding et al. 2024, "Fewer
/// Truncations Improve Language Modeling", arXiv 2404.10830).
PackedText pack_documents(const Documents& documents, const PackSettings& settings);

/// Writes row `from` of `packed` and its input mask to a row of zeros; its segments stay 0.
/// @returns the row's tokens, without padding, for the caller to mask in place
std::span<std::int32_t> put_packed(const Documents& documents, const PackedText& packed, std::size_t from,
                                   const SpecialIds& special_ids, ShardRows& rows, std::int64_t row);

}  // namespace bertpretrain
