#include "batches/source_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "shards/remote_folder.h"

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

/// The bytes of the largest shards that a window may touch, one for each of its bands.
std::uint64_t bytes_of_window(std::vector<std::uint64_t> bytes, std::int64_t window_rows, std::int64_t band_rows) {
    std::sort(bytes.rbegin(), bytes.rend());
    const auto bands = static_cast<std::size_t>((window_rows + band_rows - 1) / band_rows);
    return std::accumulate(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bands, bytes.size())),
                           std::uint64_t{0});
}

bool is_remote(const std::vector<std::filesystem::path>& files) {
    return !files.empty() && is_object_url(files.front().string());
}

}  // namespace

SourceReader::SourceReader(const std::vector<std::filesystem::path>& files, const BatchLoaderSettings& settings,
                           std::size_t source)
    : seed_(settings.seed),
      window_rows_(settings.window_rows),
      document_end_(settings.format.document_end),
      rank_(settings.rank),
      world_size_(settings.world_size),
      source_(source),
      shard_cache_(is_remote(files) ? settings.cache : nullptr),
      shards_(shard_cache_ ? survey_remote_shards(files, settings.format, shard_cache_, settings.cache_folder, source)
                           : survey_shards(files, settings.format, settings.threads)),
      order_(ordered(shards_), seed_, window_rows_, source_),
      order_ahead_(order_),
      cache_(shards_, settings.format,
             settings.cache_bytes > 0
                 ? settings.cache_bytes
                 : 2 * order_.most_rows_in_window() * bytes_of_row(settings.format.sequence_length, most_predictions(shards_)),
             settings.threads),
      lengths_(shards_, settings.threads) {}

bool SourceReader::await_shards(std::int64_t first, std::span<const SamplePlace* const> places, double run_rate,
                                const std::stop_token& stop) {
    if (!shard_cache_ || places.empty()) return true;
    const auto object_of = [&](std::int64_t shard) { return shards_[static_cast<std::size_t>(shard)].remote->shard().object; };
    if (const std::int64_t window = places.front()->window_first_band; window != window_listed_) {
        std::vector<ObjectCache::Use> uses;
        for (const auto& [shard, sample] : order_.next_uses(first))
            uses.push_back({object_of(shard), static_cast<double>(sample - first) / run_rate});
        shard_cache_->set_uses(source_, uses);
        window_listed_ = window;
    }
    std::set<std::size_t> objects;
    for (const SamplePlace* place : places) objects.insert(object_of(place->band.shard));
    return shard_cache_->hold(source_, std::vector(objects.begin(), objects.end()), stop);
}

std::uint64_t SourceReader::remote_bytes() const {
    if (!shard_cache_) return 0;
    return std::accumulate(shards_.begin(), shards_.end(), std::uint64_t{0}, [](std::uint64_t sum, const ShardFile& shard) {
        return sum + static_cast<std::uint64_t>(shard.remote->shard().record.bytes);
    });
}

std::uint64_t SourceReader::cache_bytes_needed() const {
    if (!shard_cache_) return 0;
    std::vector<std::uint64_t> bytes;
    std::int64_t band_rows = 0;
    for (const ShardFile& shard : shards_) {
        bytes.push_back(static_cast<std::uint64_t>(shard.remote->shard().record.bytes));
        band_rows = std::max(band_rows, shard.band_rows);
    }
    return bytes_of_window(std::move(bytes), order_.most_rows_in_window(), band_rows);
}

std::uint64_t SourceReader::least_cache_bytes_needed(const std::vector<std::filesystem::path>& files,
                                                     const BatchLoaderSettings& settings) {
    if (!settings.cache || !is_remote(files)) return 0;
    std::vector<std::uint64_t> bytes;
    std::int64_t rows = 0, most_rows = 0;
    for (const ShardRecord& record : remote_records(files, settings.cache_folder)) {
        bytes.push_back(static_cast<std::uint64_t>(record.bytes));
        rows += record.rows;
        most_rows = std::max(most_rows, record.rows);
    }
    // The larger the bands, the fewer a window has, and the fewer shards. No band is larger than its shard.
    return bytes_of_window(std::move(bytes), SampleOrder::most_rows_in_window(rows, most_rows, settings.window_rows), most_rows);
}

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

UnpaddedSamples SourceReader::sample_at(const SamplePlace& place, std::int64_t number, const DynamicMasking* masking) {
    return unpadded_sample(cache_.rows_of(place.band_number, place.band), place.row_in_band, number, masking, document_end_);
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
