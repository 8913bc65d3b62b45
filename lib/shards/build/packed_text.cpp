#include "shards/build/packed_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::uint32_t begin_of_document(const Documents& documents, std::size_t document) {
    return documents.sentence_begin(documents.first_sentence(document));
}

/// Collects consecutive tokens into rows, without best_fit.
class Packer {
public:
    explicit Packer(std::int64_t sequence_length) : sequence_length_(sequence_length) {}

    /// Adds tokens [begin, end) of a document, which follow those added before. Divides them only if no row could hold them.
    void add(std::size_t document, std::uint32_t begin, std::uint32_t end) {
        bool begins_piece = length_ == 1 || document != last_document_;
        if (length_ + (begins_piece ? 1 : 0) + (end - begin) > sequence_length_) {
            close();
            begins_piece = true;
        }
        while (begin < end) {
            if (std::exchange(begins_piece, false)) {
                pieces_.push_back({begin, 0});
                ++length_;
            }
            const std::uint32_t taken = std::min(static_cast<std::uint32_t>(sequence_length_ - length_), end - begin);
            pieces_.back().size = static_cast<std::uint16_t>(pieces_.back().size + taken);
            length_ += taken;
            begin += taken;
            if (begin == end) break;
            close();
            begins_piece = true;
        }
        last_document_ = document;
    }
    void close() {
        if (length_ > 1) ends_.push_back(static_cast<std::uint32_t>(pieces_.size()));
        length_ = 1;
    }
    PackedText finish() {
        close();
        return {std::move(pieces_), std::move(ends_), /*best_fit=*/false};
    }

private:
    std::int64_t sequence_length_, length_ = 1;  ///< of the open row: [CLS], and each piece with its [SEP]
    std::size_t last_document_ = 0;
    std::vector<TextPiece> pieces_;
    std::vector<std::uint32_t> ends_;
};

/// Returns the pieces of all documents, the longest first.
std::vector<TextPiece> divide(const Documents& documents, std::uint32_t most) {
    std::vector<TextPiece> pieces;
    for (std::size_t d = 0; d < documents.size(); ++d) {
        const std::uint32_t end = begin_of_document(documents, d + 1);
        for (std::uint32_t begin = begin_of_document(documents, d), size = 0; begin < end; begin += size) {
            size = std::min(most, end - begin);
            pieces.push_back({begin, static_cast<std::uint16_t>(size)});
        }
    }
    std::ranges::stable_sort(pieces, std::greater{}, &TextPiece::size);
    return pieces;
}

PackedText pack_best_fit(const Documents& documents, std::int64_t sequence_length) {
    constexpr std::int64_t specials = 2;  // [CLS] and [SEP] of each piece
    const std::vector<TextPiece> pieces = divide(documents, static_cast<std::uint32_t>(sequence_length - specials));
    std::map<std::int64_t, std::vector<std::uint32_t>> rows_by_room;
    std::vector<std::uint32_t> row_of, ends;  // by piece; by row, first its number of pieces
    for (const TextPiece& piece : pieces) {
        const std::int64_t needed = piece.size + specials;
        auto fullest = rows_by_room.lower_bound(needed);
        if (fullest == rows_by_room.end()) {
            fullest = rows_by_room.try_emplace(sequence_length).first;
            fullest->second.push_back(static_cast<std::uint32_t>(ends.size()));
            ends.push_back(0);
        }
        const std::uint32_t row = fullest->second.back();
        const std::int64_t left = fullest->first - needed;
        fullest->second.pop_back();
        if (fullest->second.empty()) rows_by_room.erase(fullest);
        if (left > specials) rows_by_room[left].push_back(row);
        row_of.push_back(row);
        ++ends[row];
    }
    std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
    std::vector<std::uint32_t> places(ends.size());
    if (!ends.empty()) std::copy(ends.begin(), ends.end() - 1, places.begin() + 1);
    std::vector<TextPiece> in_rows(pieces.size());
    for (std::size_t p = 0; p < pieces.size(); ++p) in_rows[places[row_of[p]]++] = pieces[p];
    return {std::move(in_rows), std::move(ends), /*best_fit=*/true};
}

}  // namespace

std::size_t PackedText::length(std::size_t row) const {
    const std::span<const TextPiece> pieces = this->row(row);
    return std::accumulate(pieces.begin(), pieces.end(), pieces.size() * (best_fit_ ? 2 : 1) + (best_fit_ ? 0 : 1),
                           [](std::size_t sum, const TextPiece& piece) { return sum + piece.size; });
}

std::int64_t PackedText::total_length() const {
    std::int64_t sum = 0;
    for (std::size_t r = 0; r < rows(); ++r) sum += static_cast<std::int64_t>(length(r));
    return sum;
}

PackedText pack_documents(const Documents& documents, const PackSettings& settings) {
    check(settings.sequence_length >= 5 && settings.sequence_length <= 65'536, "a sequence has 5 to 65,536 tokens, not ",
          settings.sequence_length);
    if (settings.best_fit) return pack_best_fit(documents, settings.sequence_length);
    Packer packer(settings.sequence_length);
    for (std::size_t d = 0; d < documents.size(); ++d) {
        for (std::uint32_t s = documents.first_sentence(d); s < documents.first_sentence(d + 1); ++s)
            packer.add(d, documents.sentence_begin(s), documents.sentence_begin(s + 1));
        if (!settings.across_documents) packer.close();
    }
    return packer.finish();
}

std::span<std::int32_t> put_packed(const Documents& documents, const PackedText& packed, std::size_t from,
                                   const SpecialIds& special_ids, ShardRows& rows, std::int64_t row) {
    const auto begin = static_cast<std::size_t>(row * rows.sequence_length);
    const std::span<std::int32_t> tokens = std::span(rows.input_ids_RS).subspan(begin, packed.length(from));
    auto out = tokens.begin();
    auto mask = rows.input_mask_RS.begin() + static_cast<std::ptrdiff_t>(begin);
    std::int8_t number = first_document;
    for (const TextPiece& piece : packed.row(from)) {
        const auto piece_begin = out;
        if (packed.best_fit() || out == tokens.begin()) *out++ = special_ids.cls;
        const std::span<const std::int32_t> text = documents.tokens(piece.begin, piece.size);
        out = std::copy(text.begin(), text.end(), out);
        *out++ = special_ids.sep;
        mask = std::fill_n(mask, out - piece_begin, number);
        if (packed.best_fit()) number = next_document(number);
    }
    return tokens;
}

}  // namespace bertpretrain
