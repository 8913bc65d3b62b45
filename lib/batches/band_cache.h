#pragma once
// Bands of rows, inflated and checked, kept while their window lasts.

#include <cstdint>
#include <map>
#include <vector>

#include "batches/sample_order.h"
#include "batches/shard_files.h"

namespace bertpretrain {

/// Keeps bands under their numbers in the run's order; the one unused for longest goes first when room is needed.
class BandCache {
public:
    /// @param limit_bytes of all bands together; a single band may be larger, and is then kept alone
    BandCache(std::vector<ShardFile> shards, const RowFormat& format, std::int64_t limit_bytes)
        : shards_(std::move(shards)), format_(format), limit_bytes_(limit_bytes) {}

    /// The rows of a band, read where they are not at hand; valid until the next call. @throws DataError
    const ShardRows& rows_of(std::int64_t band_number, const Band& band);

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

    void make_room(std::int64_t bytes);
    void drop(Entries::iterator entry);

    std::vector<ShardFile> shards_;
    RowFormat format_;
    std::int64_t limit_bytes_, bytes_ = 0, uses_ = 0, reads_ = 0;
    Entries entries_;
};

}  // namespace bertpretrain
