#include "batches/step_source.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <tuple>

#include "batches/build_batch.h"
#include "batches/padded_rows.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

const BatchLoaderSettings& checked(const BatchLoaderSettings& settings) {
    const std::int64_t sequences = settings.global_batch_sequences, world_size = settings.world_size;
    check(settings.micro_batch_size > 0 && sequences > 0, sequences, " sequences in micro-batches of ",
          settings.micro_batch_size);
    check(settings.rank >= 0 && settings.rank < world_size, "rank ", settings.rank, " of ", world_size);
    check(settings.prefetch_steps > 0, settings.prefetch_steps, " steps built ahead");
    if (sequences < world_size)
        throw ConfigError(concat("a step of ", sequences, " sequences cannot be shared by ", world_size, " ranks",
                                 "\n  do: start at most ", sequences, " ranks, or raise batch.global_batch_size"));
    return settings;
}

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

StepSource::StepSource(const std::vector<std::filesystem::path>& files, const BatchLoaderSettings& settings)
    : settings_(checked(settings)),
      shards_(survey_shards(files, settings.format, settings.threads)),
      max_predictions_(most_predictions(shards_)),
      order_(ordered(shards_), settings.seed, settings.window_rows),
      order_ahead_(order_),
      cache_(shards_, settings.format,
             settings.cache_bytes > 0
                 ? settings.cache_bytes
                 : 2 * order_.most_rows_in_window() * bytes_of_row(settings.format.sequence_length, max_predictions_),
             settings.threads),
      lengths_(shards_, settings.threads) {}

std::vector<StepSource::Sample> StepSource::samples_of(std::int64_t step) {
    const std::int64_t sequences = settings_.global_batch_sequences, ranks = settings_.world_size;
    std::vector<Sample> samples(static_cast<std::size_t>(sequences));
    for (std::int64_t i = 0; i < sequences; ++i) {
        const std::int64_t number = (step - 1) * sequences + i;
        samples[static_cast<std::size_t>(i)] = {number, order_.locate(number)};
    }
    if (ranks == 1) return samples;
    // A step may span two windows. Each rank takes the same share of both, so that it needs the same bands in all steps.
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
        return std::tuple(a.place.share_before, a.place.band_number, a.number) <
               std::tuple(b.place.share_before, b.place.band_number, b.number);
    });
    std::vector<Sample> part = own_part(samples);
    std::sort(part.begin(), part.end(), [](const Sample& a, const Sample& b) { return a.number < b.number; });
    return part;
}

std::vector<StepSource::Sample> StepSource::own_part(const std::vector<Sample>& by_band) {
    std::vector<std::int64_t> tokens_before(1, 0);
    for (const Sample& sample : by_band) tokens_before.push_back(tokens_before.back() + lengths_.tokens_of(sample.place, cache_));
    const std::int64_t ranks = settings_.world_size, count = std::ssize(by_band);
    std::int64_t begin = 0, end = 0;
    for (std::int64_t rank = 0; rank <= settings_.rank; ++rank) {
        const std::int64_t twice = 2 * (tokens_before.back() * (rank + 1) / ranks);
        const auto cut = std::partition_point(tokens_before.begin(), tokens_before.end() - 1, [&](const std::int64_t& before) {
            return before + *(&before + 1) < twice;  // whether the sample's middle lies before the cut
        });
        begin = end;
        end =
            std::clamp<std::int64_t>(cut - tokens_before.begin(), begin + 1, count - (ranks - rank - 1));  // one sample at least
    }
    return {by_band.begin() + begin, by_band.begin() + end};
}

ShardRows StepSource::rows_of(const std::vector<Sample>& samples, const std::stop_token& stop) {
    ShardRows rows = empty_rows(static_cast<std::int64_t>(samples.size()), settings_.format.sequence_length, max_predictions_);
    // In the order of bands, a step reads no band twice, even if the cache cannot hold all of them.
    std::vector<std::size_t> by_band(samples.size());
    std::iota(by_band.begin(), by_band.end(), std::size_t{0});
    std::stable_sort(by_band.begin(), by_band.end(),
                     [&](std::size_t a, std::size_t b) { return samples[a].place.band_number < samples[b].place.band_number; });
    std::vector<NumberedBand> bands;
    for (const std::size_t i : by_band)
        if (const SamplePlace& place = samples[i].place; bands.empty() || bands.back().number != place.band_number)
            bands.push_back({place.band_number, place.band});
    cache_.read_ahead(bands, stop);
    for (const std::size_t i : by_band) {
        if (stop.stop_requested()) break;
        const SamplePlace& place = samples[i].place;
        copy_row(cache_.rows_of(place.band_number, place.band), place.row_in_band, rows, static_cast<std::int64_t>(i));
    }
    return rows;
}

void StepSource::look_ahead(std::int64_t last_sample, const std::stop_token& stop) {
    if (last_sample < window_.begin || last_sample >= window_.end) {
        window_ = order_.window_of(last_sample);
        bands_ahead_ = share_of(order_ahead_.window_of(window_.end), settings_.rank, settings_.world_size);
    }
    const double used = static_cast<double>(last_sample + 1 - window_.begin) / static_cast<double>(window_.end - window_.begin);
    const double bands = std::ceil(used * static_cast<double>(bands_ahead_.size()));
    cache_.read_ahead(std::span(bands_ahead_).first(static_cast<std::size_t>(bands)), stop);
}

GlobalBatch StepSource::make(std::int64_t step, const std::stop_token& stop) {
    check(step >= 1, "step ", step);
    const std::vector<Sample> samples = samples_of(step);
    cache_.forget_before(samples.front().place.window_first_band);
    lengths_.forget_before(samples.front().place.window_first_band);
    ShardRows rows = rows_of(samples, stop);
    look_ahead(step * settings_.global_batch_sequences - 1, stop);
    if (stop.stop_requested()) return {};

    if (settings_.masking) {
        std::vector<std::int64_t> numbers;
        for (const Sample& sample : samples) numbers.push_back(sample.number);
        rows = mask_again(std::move(rows), numbers, *settings_.masking);
    }
    GlobalBatch batch;
    for (std::int64_t begin = 0; begin < rows.rows; begin += settings_.micro_batch_size) {
        const std::int64_t size = std::min(settings_.micro_batch_size, rows.rows - begin);
        std::vector<std::int64_t> selected(static_cast<std::size_t>(size)), numbers;
        std::iota(selected.begin(), selected.end(), begin);
        for (const std::int64_t i : selected) numbers.push_back(samples[static_cast<std::size_t>(i)].number);
        const MicroBatch& made = batch.micro_batches.emplace_back(
            build_batch(unpadded_samples(rows, selected, std::move(numbers), settings_.format.document_end), settings_.device));
        batch.sequences += made.sequences();
        batch.tokens += made.tokens();
        batch.masked += made.masked();
    }
    return batch;
}

std::string StepSource::earlier_fingerprint() const {
    std::vector<OrderedShard> shards;
    for (const ShardFile& shard : shards_) {
        shards.push_back(ordered(shard));
        if (!shard.is_in_manifest) shards.back().crc32.reset();
    }
    return SampleOrder(std::move(shards), settings_.seed, settings_.window_rows).fingerprint();
}

RowsByFile StepSource::rows_by_file(std::int64_t step) const {
    SampleOrder order(ordered(shards_), settings_.seed, settings_.window_rows);  // order_ belongs to the thread that calls make()
    RowsByFile rows;
    const std::int64_t sequences = settings_.global_batch_sequences;
    for (std::int64_t number = (step - 1) * sequences; number < step * sequences; ++number) {
        const SamplePlace place = order.locate(number);
        rows[shards_[static_cast<std::size_t>(place.band.shard)].file].push_back(place.row_in_shard());
    }
    for (auto& [file, of_file] : rows) std::sort(of_file.begin(), of_file.end());
    return rows;
}

}  // namespace bertpretrain
