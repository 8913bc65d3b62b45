#include "batches/evaluation_batches.h"

#include <algorithm>
#include <cstddef>
#include <ios>
#include <span>

#include "archive/checksum.h"
#include "batches/build_batch.h"
#include "batches/source_parts.h"
#include "core/error.h"

namespace bertpretrain {

EvaluationBatches::EvaluationBatches(const std::vector<EvaluationSource>& sources, const EvaluationSettings& settings)
    : settings_(settings), samples_before_(1, 0) {
    check(settings.micro_batch_size > 0 && settings.max_sequences >= 0, "micro-batches of ", settings.micro_batch_size,
          ", at most ", settings.max_sequences, " sequences");
    check(settings.rank >= 0 && settings.rank < settings.world_size, "rank ", settings.rank, " of ", settings.world_size);
    check(!sources.empty(), "an evaluation needs a source");
    for (const EvaluationSource& source : sources) {
        for (ShardFile& shard : survey_shards(source.files, settings.format, settings.threads)) {
            shards_.push_back(std::move(shard));
            source_of_shard_.push_back(source_names_.size());
        }
        source_names_.push_back(source.name);
    }
    std::int64_t rows = 0;
    for (const ShardFile& shard : shards_) rows += shard.rows;
    const std::int64_t wanted = settings.max_sequences == 0 ? rows : std::min(rows, settings.max_sequences);
    std::int64_t rows_before = 0;
    for (const ShardFile& shard : shards_) {
        rows_before += shard.rows;
        // Rounding the running sum down makes the total exact, and no shard exceeds its rows.
        samples_before_.push_back(static_cast<std::int64_t>(static_cast<__int128>(wanted) * rows_before / rows));
    }
    begin_ = wanted * settings.rank / settings.world_size;
    end_ = wanted * (settings.rank + 1) / settings.world_size;
    position_ = begin_;
}

std::size_t EvaluationBatches::shard_of(std::int64_t sample) const {
    const auto after = std::upper_bound(samples_before_.begin(), samples_before_.end(), sample);
    return static_cast<std::size_t>(after - samples_before_.begin()) - 1;
}

std::int64_t EvaluationBatches::enter_band_of(std::int64_t sample) {
    if (sample < band_begin_ || sample >= band_end_) {
        const std::size_t index = shard_of(sample);
        const std::int64_t shard_begin = samples_before_[index], shard_samples = samples_before_[index + 1] - shard_begin;
        const ShardFile& shard = shards_[index];
        const std::int64_t first = (sample - shard_begin) / shard.band_rows * shard.band_rows;
        band_ = read_checked_rows(shard, first, std::min(shard.band_rows, shard_samples - first), settings_.format,
                                  settings_.threads);
        band_begin_ = shard_begin + first;
        band_end_ = band_begin_ + band_.rows;
    }
    return sample - band_begin_;
}

std::int64_t EvaluationBatches::fewest_batches() const {
    const std::int64_t sequences = total_sequences() / settings_.world_size, size = settings_.micro_batch_size;
    return (sequences + size - 1) / size;
}

std::string EvaluationBatches::fingerprint() const {
    std::string text;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        const ShardFile& shard = shards_[i];
        text += concat(shard.file.filename().string(), ' ', shard.rows, ' ', samples_before_[i + 1], ' ', shard.crc32, '\n');
    }
    return concat("files ", shards_.size(), ", sequences ", total_sequences(), ", hash ", std::hex,
                  crc32_of(std::as_bytes(std::span(text))));
}

void EvaluationBatches::verify() {
    for (std::int64_t sample = begin_; sample < end_; sample = band_end_) enter_band_of(sample);
}

std::optional<MicroBatch> EvaluationBatches::next() {
    const std::int64_t size = std::min(settings_.micro_batch_size, end_ - position_);
    if (size == 0) return std::nullopt;
    std::vector<UnpaddedSamples> samples_B;
    std::vector<std::size_t> sources_B;
    for (std::int64_t i = 0; i < size; ++i, ++position_) {
        const std::int64_t row = enter_band_of(position_);
        samples_B.push_back(unpadded_sample(band_, row, position_, nullptr, settings_.format.document_end));
        sources_B.push_back(source_of_shard_[shard_of(position_)]);
    }
    MicroBatch made = build_batch(samples_B, settings_.device);
    if (source_names_.size() > 1) made.source_parts = source_parts(samples_B, sources_B);
    return to_device(std::move(made), settings_.device);
}

}  // namespace bertpretrain
