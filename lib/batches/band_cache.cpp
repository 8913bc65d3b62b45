#include "batches/band_cache.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "batches/padded_rows.h"

namespace bertpretrain {

const ShardRows& BandCache::rows_of(std::int64_t band_number, const Band& band) {
    auto entry = entries_.find(band_number);
    if (entry == entries_.end()) {
        const ShardFile& shard = shards_.at(static_cast<std::size_t>(band.shard));
        const std::int64_t bytes = band.rows * bytes_of_row(format_.sequence_length, shard.max_predictions);
        make_room(bytes);  // before reading, so that the limit holds at every moment
        entry = entries_.emplace(band_number, Entry{read_checked_rows(shard, band.first_row, band.rows, format_), bytes}).first;
        bytes_ += bytes;
        ++reads_;
    }
    entry->second.last_use = ++uses_;
    return entry->second.rows;
}

void BandCache::make_room(std::int64_t bytes) {
    while (!entries_.empty() && bytes_ + bytes > limit_bytes_)
        drop(std::min_element(entries_.begin(), entries_.end(),
                              [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
}

void BandCache::drop(Entries::iterator entry) {
    bytes_ -= entry->second.bytes;
    entries_.erase(entry);
}

void BandCache::forget_before(std::int64_t band_number) {
    while (!entries_.empty() && entries_.begin()->first < band_number) drop(entries_.begin());
}

}  // namespace bertpretrain
