#pragma once
// Small shards whose rows contain their shard and row number.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batches/micro_batch.h"
#include "batches/shard_files.h"
#include "batches/unpadded_samples.h"
#include "core/random.h"
#include "shards/build/sample.h"
#include "shards/build/shard_writer.h"
#include "support/files.h"

namespace bertpretrain::testing {

inline constexpr std::int64_t sample_length = 16, sample_predictions = 3, sample_vocabulary = 2000;

inline RowFormat sample_format(std::int64_t sequence_length = sample_length) {
    return {.sequence_length = sequence_length, .max_position_embeddings = sequence_length, .vocab_size = sample_vocabulary};
}

/// Makes row `row` of shard `shard`: random length, segments, masks and labels; the first two ids after [CLS] are shard and row.
inline void fill_row(ShardRows& rows, std::int64_t at, std::int64_t shard, std::int64_t row) {
    RandomSequence random(static_cast<std::uint64_t>(shard), Purpose::masking, static_cast<std::uint64_t>(row));
    const std::int64_t S = rows.sequence_length, P = rows.max_predictions;
    const std::int64_t length = 4 + random.below(static_cast<std::uint32_t>(S - 3)), second = 3 + random.below(2);
    for (std::int64_t s = 0; s < length; ++s) {
        const auto i = static_cast<std::size_t>(at * S + s);
        rows.input_ids_RS[i] = s == 1   ? static_cast<int>(shard)
                               : s == 2 ? static_cast<int>(row)
                                        : static_cast<int>(random.below(900));
        rows.input_mask_RS[i] = 1;
        rows.segment_ids_RS[i] = s >= second ? 1 : 0;
    }
    const std::int64_t masked = std::min<std::int64_t>(random.below(static_cast<std::uint32_t>(P + 1)), length - 3);
    for (std::int64_t p = 0; p < masked; ++p) {
        rows.masked_lm_positions_RP[static_cast<std::size_t>(at * P + p)] = static_cast<int>(3 + p);
        rows.masked_lm_ids_RP[static_cast<std::size_t>(at * P + p)] = static_cast<int>(random.below(900));
    }
    rows.next_sentence_labels_R[static_cast<std::size_t>(at)] = static_cast<std::int8_t>(random.below(2));
}

inline ShardRows sample_rows(std::int64_t shard, std::int64_t first, std::int64_t count,
                             std::int64_t sequence_length = sample_length, std::int64_t max_predictions = sample_predictions) {
    ShardRows rows = empty_rows(count, sequence_length, max_predictions);
    for (std::int64_t r = 0; r < count; ++r) fill_row(rows, r, shard, first + r);
    return rows;
}

/// Returns the rows `selected` as samples with these numbers.
inline std::vector<UnpaddedSamples> unpadded_samples(const ShardRows& rows, const std::vector<std::int64_t>& selected,
                                                     const std::vector<std::int64_t>& numbers,
                                                     std::optional<std::int32_t> document_end = {}) {
    std::vector<UnpaddedSamples> samples;
    for (std::size_t i = 0; i < selected.size(); ++i)
        samples.push_back(unpadded_sample(rows, selected[i], numbers[i], nullptr, document_end));
    return samples;
}

/// Shards 0, 1, ... with the given numbers of rows, one band each (the writer's bands have more rows than any of them).
class SampleShards {
public:
    explicit SampleShards(const std::vector<std::int64_t>& rows_of_shard, std::int64_t sequence_length = sample_length) {
        for (const std::int64_t rows : rows_of_shard) add(rows, sequence_length);
    }

    void add(std::int64_t rows, std::int64_t sequence_length = sample_length, std::int64_t max_predictions = sample_predictions) {
        const auto shard = static_cast<std::int64_t>(files.size());
        files.push_back(folder / ("wiki_training_000" + std::to_string(shard) + ".h5"));
        write_shard(
            files.back(), {rows, sequence_length, max_predictions},
            [&](std::int64_t first, std::int64_t count) {
                return sample_rows(shard, first, count, sequence_length, max_predictions);
            },
            1);
    }

    /// Rewrites shard `shard` with one id outside the vocabulary.
    void spoil(std::size_t shard, std::int64_t rows, std::int64_t bad_row) const {
        write_shard(
            files[shard], {rows, sample_length, sample_predictions},
            [&](std::int64_t first, std::int64_t count) {
                ShardRows result = sample_rows(static_cast<std::int64_t>(shard), first, count);
                result.input_ids_RS[static_cast<std::size_t>((bad_row - first) * sample_length + 3)] = sample_vocabulary;
                result.input_mask_RS[static_cast<std::size_t>((bad_row - first) * sample_length + 3)] = 1;
                return result;
            },
            1);
    }

    TemporaryFolder folder;
    std::vector<std::filesystem::path> files;
};

using Origin = std::pair<std::int64_t, std::int64_t>;  ///< shard, row

/// Returns shard and row of each sequence of a batch, read from its ids.
inline std::vector<Origin> origins_of(const MicroBatch& batch) {
    std::vector<Origin> origins;
    const auto* ids = batch.input_ids_T.const_data_ptr<std::int64_t>();
    for (std::int64_t b = 0; b < batch.sequences(); ++b) {
        const std::int64_t start = batch.layout.starts_B1[static_cast<std::size_t>(b)];
        origins.emplace_back(ids[start + 1], ids[start + 2]);
    }
    return origins;
}

}  // namespace bertpretrain::testing
