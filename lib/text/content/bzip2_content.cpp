#include "text/content/bzip2_content.h"

#include <algorithm>

#include "core/error.h"
#include "text/content/bzip2_block_decoder.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_plain_bytes = std::size_t{2} << 20;
constexpr const char* wrong_checksum = "its bzip2 data does not match its checksum";

}  // namespace

Bzip2Content::Bzip2Content(std::unique_ptr<ByteSource> source, TaskPool& pool)
    : source_(std::move(source)), pool_(pool), splitter_(*source_) {}

Bzip2Content::~Bzip2Content() = default;

Bzip2Content::Unpacked Bzip2Content::unpack(const Bzip2Piece& piece) {
    Unpacked unpacked;
    if (piece.ending == Bzip2Piece::Ending::cut_short || piece.bits == 0) return unpacked;
    unpacked.decoder = std::make_unique<Bzip2BlockDecoder>(piece);
    const auto state = unpacked.decoder->unpack(unpacked.plain, most_plain_bytes);
    if (state != Bzip2BlockDecoder::State::full) unpacked.decoder.reset();
    if (state == Bzip2BlockDecoder::State::damaged) {
        unpacked.fault = wrong_checksum;
        unpacked.plain.clear();
    }
    return unpacked;
}

/// Submits enough pieces to keep every thread busy. An error while splitting is kept until the pieces before it have been read.
void Bzip2Content::look_ahead() {
    while (!split_all_ && ahead_.size() < pool_.threads() + 2) {
        Ahead next{std::make_shared<Bzip2Piece>(), {}};
        try {
            split_all_ = !splitter_.next(*next.piece);
        } catch (const DataError&) {
            splitting_failed_ = std::current_exception();
            split_all_ = true;
        }
        if (split_all_) return;
        next.unpacked = pool_.submit([piece = next.piece] { return unpack(*piece); });
        ahead_.push_back(std::move(next));
    }
}

std::size_t Bzip2Content::read(char* into, std::size_t size) {
    while (used_ == current_.plain.size()) {
        if (current_.decoder) refill();
        else if (!take_next()) return 0;
    }
    const std::size_t count = std::min(size, current_.plain.size() - used_);
    current_.plain.copy(into, count, used_);
    used_ += count;
    return count;
}

void Bzip2Content::refill() {
    used_ = 0;
    const auto state = current_.decoder->unpack(current_.plain, most_plain_bytes);
    if (state == Bzip2BlockDecoder::State::damaged) complain(*piece_, wrong_checksum);
    if (state == Bzip2BlockDecoder::State::ended) current_.decoder.reset();
}

bool Bzip2Content::take_next() {
    if (piece_) finish(*piece_);
    piece_.reset();
    look_ahead();
    if (ahead_.empty()) {
        if (splitting_failed_) std::rethrow_exception(splitting_failed_);
        return false;
    }
    Ahead next = std::move(ahead_.front());
    ahead_.pop_front();
    look_ahead();
    take_block(*next.piece, pool_.wait(next.unpacked));
    piece_ = next.piece;
    return true;
}

void Bzip2Content::take_block(Bzip2Piece& piece, Unpacked unpacked) {
    using Ending = Bzip2Piece::Ending;
    const bool border_is_doubtful = piece.ending == Ending::block_follows || piece.ending == Ending::stream_may_end;
    if (unpacked.fault && border_is_doubtful && !ahead_.empty()) {
        // The 48 bits that mark a boundary occur inside a block by chance once in about 35 terabytes.
        piece.join(*ahead_.front().piece);
        ahead_.pop_front();
        unpacked = unpack(piece);
    }
    if (piece.ending == Ending::cut_short)
        throw DataError(concat(source_->name(), ": cut short: its compressed data stops in the middle, at byte ",
                               piece.at + piece.packed.size(), "; download it again"));
    if (unpacked.fault) complain(piece, unpacked.fault);
    current_ = std::move(unpacked);
    used_ = 0;
}

void Bzip2Content::finish(const Bzip2Piece& piece) {
    using Ending = Bzip2Piece::Ending;
    bytes_read_ = piece.end;
    if (piece.bits > 0) checksum_ = (checksum_ << 1 | checksum_ >> 31) ^ checksum_of_block(piece);
    if (piece.ending == Ending::block_follows) return;
    if (checksum_ != piece.stream_checksum) complain(piece, wrong_checksum);
    if (piece.ending == Ending::stream_may_end) complain(piece, "a bzip2 stream was expected to begin after it");
    checksum_ = 0;
}

void Bzip2Content::complain(const Bzip2Piece& piece, const char* fault) const {
    throw DataError(concat(source_->name(), ": damaged near byte ", piece.at, ": ", fault, "; download it again"));
}

}  // namespace bertpretrain
