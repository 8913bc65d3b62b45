#include "batches/band_cache.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.h"
#include "core/threads/threads.h"

namespace bertpretrain {

const ShardRows& BandCache::rows_of(std::int64_t band_number, const Band& band) {
    auto entry = entries_.find(band_number);
    if (entry == entries_.end()) {
        make_room(bytes_of(band));  // before reading, so that memory never exceeds the limit
        const ShardFile& shard = shards_.at(static_cast<std::size_t>(band.shard));
        keep({band_number, band}, read_checked_rows(shard, band.first_row, band.rows, format_, threads_));
        entry = entries_.find(band_number);
    }
    entry->second.last_use = ++uses_;
    return entry->second.rows;
}

void BandCache::read_ahead(std::span<const NumberedBand> bands, const std::stop_token& stop) {
    std::vector<NumberedBand> missing;
    std::int64_t bytes = bytes_;
    for (const NumberedBand& band : bands) {
        if (entries_.contains(band.number)) continue;
        bytes += bytes_of(band.band);
        if (bytes > limit_bytes_) break;
        missing.push_back(band);
    }
    std::vector<ShardRows> rows(missing.size());
    // One thread per band scales best where there are enough bands.
    const std::size_t within = std::max<std::size_t>(1, threads_ / std::max<std::size_t>(1, missing.size()));
    for_each_index(missing.size(), threads_, [&](std::size_t i) {
        const Band& band = missing[i].band;
        const ShardFile& shard = shards_.at(static_cast<std::size_t>(band.shard));
        if (stop.stop_requested()) return;
        try {
            rows[i] = read_checked_rows(shard, band.first_row, band.rows, format_, within);
        } catch (const DataError&) {  // rows_of() throws it again when the band is needed
        }
    });
    for (std::size_t i = 0; i < missing.size(); ++i)
        if (rows[i].rows > 0) keep(missing[i], std::move(rows[i]));
}

std::int64_t BandCache::bytes_of(const Band& band) const {
    return band.rows * bytes_of_row(format_.sequence_length, shards_.at(static_cast<std::size_t>(band.shard)).max_predictions);
}

void BandCache::keep(const NumberedBand& band, ShardRows rows) {
    const std::int64_t bytes = bytes_of(band.band);
    entries_.emplace(band.number, Entry{std::move(rows), bytes, ++uses_});
    bytes_ += bytes;
    ++reads_;
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
