#include "batches/row_lengths.h"

#include <algorithm>

namespace bertpretrain {

std::int64_t RowLengths::tokens_of(const SamplePlace& place) {
    auto found = bands_.find(place.band_number);
    if (found == bands_.end()) {
        const Band& band = place.band;
        const ShardFile& shard = shards_.at(static_cast<std::size_t>(band.shard));
        const ShardRows rows = shard.reader->read(band.first_row, band.rows, threads_, ShardReader::Part::input_mask);
        std::vector<std::uint32_t> lengths;
        for (std::int64_t row = 0; row < rows.rows; ++row) {
            const auto mask = rows.input_mask_RS.begin() + row * rows.sequence_length;
            lengths.push_back(
                static_cast<std::uint32_t>(rows.sequence_length - std::count(mask, mask + rows.sequence_length, 0)));
        }
        rows_read_ += band.rows;
        found = bands_.emplace(place.band_number, std::move(lengths)).first;
    }
    return found->second[static_cast<std::size_t>(place.row_in_band)];
}

void RowLengths::forget_before(std::int64_t band_number) { bands_.erase(bands_.begin(), bands_.lower_bound(band_number)); }

}  // namespace bertpretrain
