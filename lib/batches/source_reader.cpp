#include "batches/source_reader.h"

#include <algorithm>
#include <cmath>

#include "batches/padded_rows.h"

namespace bertpretrain {
namespace {

OrderedShard ordered(const ShardFile& shard) {
    return {shard.file.filename().string(), shard.rows, shard.band_rows, shard.crc32};
}

std::vector<OrderedShard> ordered(const std::vector<ShardFile>& shards) {
    std::vector<OrderedShard> result;
    for (const ShardFile& shard : shards) result.push_back(ordered(shard));
    return result;
}

std::int64_t most_predictions(const std::vector<ShardFile>& shards) {
    std::int64_t most = 0;
    for (const ShardFile& shard : shards) most = std::max(most, shard.max_predictions);
    return most;
}

/// The bands of a window that `rank` will probably need: samples are assigned by band, in the bands' order.
std::vector<NumberedBand> share_of(const SampleWindow& window, std::int64_t rank, std::int64_t world_size) {
    const std::int64_t rows = window.end - window.begin, first = rows * rank / world_size,
                       end = (rows * (rank + 1) + world_size - 1) / world_size;
    std::vector<NumberedBand> share;
    std::int64_t rows_before = 0;
    for (const NumberedBand& band : window.bands) {
        if (rows_before < end && rows_before + band.band.rows > first) share.push_back(band);
        rows_before += band.band.rows;
    }
    return share;
}

}  // namespace

SourceReader::SourceReader(const std::vector<std::filesystem::path>& files, const BatchLoaderSettings& settings,
                           std::size_t source)
    : seed_(settings.seed),
      window_rows_(settings.window_rows),
      rank_(settings.rank),
      world_size_(settings.world_size),
      source_(source),
      shards_(survey_shards(files, settings.format, settings.threads)),
      max_predictions_(most_predictions(shards_)),
      order_(ordered(shards_), seed_, window_rows_, source_),
      order_ahead_(order_),
      cache_(shards_, settings.format,
             settings.cache_bytes > 0
                 ? settings.cache_bytes
                 : 2 * order_.most_rows_in_window() * bytes_of_row(settings.format.sequence_length, max_predictions_),
             settings.threads),
      lengths_(shards_, settings.threads) {}

void SourceReader::forget_before(const SamplePlace& first) {
    cache_.forget_before(first.window_first_band);
    lengths_.forget_before(first.window_first_band);
}

void SourceReader::read_ahead(std::span<const SamplePlace* const> places, const std::stop_token& stop) {
    std::vector<NumberedBand> bands;
    for (const SamplePlace* place : places)
        if (bands.empty() || bands.back().number != place->band_number) bands.push_back({place->band_number, place->band});
    cache_.read_ahead(bands, stop);
}

void SourceReader::copy_row_of(const SamplePlace& place, ShardRows& to, std::int64_t to_row) {
    copy_row(cache_.rows_of(place.band_number, place.band), place.row_in_band, to, to_row);
}

void SourceReader::look_ahead(std::int64_t last, const std::stop_token& stop) {
    if (last < window_.begin || last >= window_.end) {
        window_ = order_.window_of(last);
        bands_ahead_ = share_of(order_ahead_.window_of(window_.end), rank_, world_size_);
    }
    const double used = static_cast<double>(last + 1 - window_.begin) / static_cast<double>(window_.end - window_.begin);
    const double bands = std::ceil(used * static_cast<double>(bands_ahead_.size()));
    cache_.read_ahead(std::span(bands_ahead_).first(static_cast<std::size_t>(bands)), stop);
}

std::string SourceReader::earlier_fingerprint() const {
    std::vector<OrderedShard> shards;
    for (const ShardFile& shard : shards_) {
        shards.push_back(ordered(shard));
        if (!shard.is_in_manifest) shards.back().crc32.reset();
    }
    return SampleOrder(std::move(shards), seed_, window_rows_, source_).fingerprint();
}

void SourceReader::add_rows(std::span<const std::int64_t> numbers, RowsByFile& rows) const {
    SampleOrder order(ordered(shards_), seed_, window_rows_, source_);  // order_ belongs to the thread that reads
    for (const std::int64_t number : numbers) {
        const SamplePlace place = order.locate(number);
        rows[shards_[static_cast<std::size_t>(place.band.shard)].file].push_back(place.row_in_shard());
    }
}

}  // namespace bertpretrain
