#include "batches/row_lengths.h"

#include <algorithm>

namespace bertpretrain {

namespace {

std::vector<std::uint32_t> count_tokens(const ShardRows& rows) {
    std::vector<std::uint32_t> lengths;
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        const auto mask = rows.input_mask_RS.begin() + row * rows.sequence_length;
        lengths.push_back(static_cast<std::uint32_t>(rows.sequence_length - std::count(mask, mask + rows.sequence_length, 0)));
    }
    return lengths;
}

}  // namespace

std::vector<std::uint32_t> RowLengths::lengths_of(const SamplePlace& place, const BandCache& cache) {
    if (const ShardRows* rows = cache.find(place.band_number)) return count_tokens(*rows);
    const Band& band = place.band;
    const ShardFile& shard = shards_.at(static_cast<std::size_t>(band.shard));
    rows_read_ += band.rows;
    return count_tokens(shard.opened()->read(band.first_row, band.rows, threads_, ShardReader::Part::input_mask));
}

std::int64_t RowLengths::tokens_of(const SamplePlace& place, const BandCache& cache) {
    auto found = bands_.find(place.band_number);
    if (found == bands_.end()) found = bands_.emplace(place.band_number, lengths_of(place, cache)).first;
    return found->second[static_cast<std::size_t>(place.row_in_band)];
}

void RowLengths::forget_before(std::int64_t band_number) { bands_.erase(bands_.begin(), bands_.lower_bound(band_number)); }

}  // namespace bertpretrain
