#pragma once
// A cache of bands: decompressed, checked rows of shards.

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

/// Bytes of one row in memory.
constexpr std::int64_t bytes_of_row(std::int64_t sequence_length, std::int64_t max_predictions) {
    return sequence_length * (4 + 1 + 1) + max_predictions * (4 + 4) + 1;
}

/// Least-recently-used cache of bands, keyed by their number in the run's order.
class BandCache {
public:
    /// @param limit_bytes of all bands together. A single band that is larger is kept alone.
    /// @param threads that read and decompress; at least 1
    BandCache(std::vector<ShardFile> shards, const RowFormat& format, std::int64_t limit_bytes, std::size_t threads = 1)
        : shards_(std::move(shards)), format_(format), limit_bytes_(limit_bytes), threads_(threads) {}

    /// Returns the rows of a band, and reads them if they are not cached. Valid until the next call. @throws DataError
    const ShardRows& rows_of(std::int64_t band_number, const Band& band);

    /// Returns the rows of a cached band, else null. Valid until the next call of another member function.
    const ShardRows* find(std::int64_t band_number) const {
        const auto entry = entries_.find(band_number);
        return entry == entries_.end() ? nullptr : &entry->second.rows;
    }

    /// Reads the bands that are not cached, in order and several at once, as long as they fit without dropping another band.
    /// Ignores bands that cannot be read: rows_of() throws the error when the band is needed.
    void read_ahead(std::span<const NumberedBand> bands, const std::stop_token& stop = {});

    /// Drops the bands with smaller numbers.
    void forget_before(std::int64_t band_number);

    std::int64_t bytes() const { return bytes_; }
    /// Number of bands read so far.
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
