#pragma once
// Bands of rows, inflated and checked, kept while their window lasts.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "batches/sample_order.h"
#include "batches/shard_files.h"

namespace bertpretrain {

/// Keeps bands under their numbers in the run's order; the one unused for longest goes first when room is needed.
class BandCache {
public:
    /// @param limit_bytes of all bands together; a single band may be larger, and is then kept alone
    /// @param threads that read, at least 1
    BandCache(std::vector<ShardFile> shards, const RowFormat& format, std::int64_t limit_bytes, std::size_t threads = 1)
        : shards_(std::move(shards)), format_(format), limit_bytes_(limit_bytes), threads_(threads) {}

    /// The rows of a band, read where they are not at hand; valid until the next call. @throws DataError
    const ShardRows& rows_of(std::int64_t band_number, const Band& band);

    /// The rows of a band that is at hand, else null; valid until the next call of another member.
    const ShardRows* find(std::int64_t band_number) const {
        const auto entry = entries_.find(band_number);
        return entry == entries_.end() ? nullptr : &entry->second.rows;
    }

    /// Reads those of `bands` that are not at hand, in their order, several at once, until no more fit beside what is there.
    /// What cannot be read is left to rows_of(), which says why.
    void read_ahead(std::span<const NumberedBand> bands, const std::stop_token& stop = {});

    /// Drops the bands with smaller numbers: their rows do not come again.
    void forget_before(std::int64_t band_number);

    std::int64_t bytes() const { return bytes_; }
    /// Bands read so far.
    std::int64_t reads() const { return reads_; }

private:
    struct Entry {
        ShardRows rows;
        std::int64_t bytes = 0, last_use = 0;
    };
    using Entries = std::map<std::int64_t, Entry>;

    std::int64_t bytes_of(const Band& band) const;
    void make_room(std::int64_t bytes);
    void keep(const NumberedBand& band, ShardRows rows);
    void drop(Entries::iterator entry);

    std::vector<ShardFile> shards_;
    RowFormat format_;
    std::int64_t limit_bytes_;
    std::size_t threads_;
    std::int64_t bytes_ = 0, uses_ = 0, reads_ = 0;
    Entries entries_;
};

}  // namespace bertpretrain
