// How evenly, and how economically, ranks share a corpus of the size that real ones have per window.
#include <algorithm>

#include "batches/padded_rows.h"
#include "batches/step_source.h"
#include "core/random.h"
#include "shards/shard_writer.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t length = 128, predictions = 20, bands = 192, rows_of_band = 1024, global_batch = 12'288, ranks = 4;

/// Rows as our shards have them: one in ten of a random length, the others nearly full; ids do not matter here.
ShardRows rows_of(std::int64_t shard, std::int64_t first, std::int64_t count) {
    ShardRows rows = empty_rows(count, length, predictions);
    RandomSequence random(1, Purpose::masking, static_cast<std::uint64_t>(shard), static_cast<std::uint32_t>(first));
    for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t tokens = random.below(10) == 0 ? 5 + random.below(124) : 100 + random.below(29);
        const auto begin = static_cast<std::ptrdiff_t>(row * length);
        std::fill_n(rows.input_ids_RS.begin() + begin, tokens, 7);
        std::fill_n(rows.input_mask_RS.begin() + begin, tokens, std::int8_t{1});
    }
    return rows;
}

std::vector<std::filesystem::path> write_corpus(const TemporaryFolder& folder) {
    std::vector<std::filesystem::path> files;
    for (std::int64_t shard = 0; shard < 4; ++shard) {
        files.push_back(folder / ("corpus_training_000" + std::to_string(shard) + ".h5"));
        write_shard(
            files.back(), {bands / 4 * rows_of_band, length, predictions},
            [&](std::int64_t first, std::int64_t count) { return rows_of(shard, first, count); }, 2);
    }
    return files;
}

}  // namespace

TEST_CASE("of windows of 64 bands, each of four ranks reads 0.30 at most, with equally many tokens in every step") {
    const TemporaryFolder folder;
    const auto files = write_corpus(folder);
    BatchLoaderSettings settings;
    settings.seed = 3;
    settings.global_batch_sequences = global_batch;
    settings.micro_batch_size = 16;
    settings.format = {length, 512, 30522};
    settings.world_size = ranks;
    settings.window_rows = 64 * rows_of_band;
    settings.threads = 2;
    const std::int64_t steps = bands * rows_of_band / global_batch;  // of an epoch
    std::vector<std::vector<std::int64_t>> tokens(static_cast<std::size_t>(2 * steps));
    for (settings.rank = 0; settings.rank < ranks; ++settings.rank) {
        StepSource source(files, settings);
        // The second epoch: what it reads ahead for the third is what the first has read ahead for it.
        std::int64_t reads = 0, lengths = 0;
        for (std::int64_t step = 1; step <= 2 * steps; ++step) {
            tokens[static_cast<std::size_t>(step - 1)].push_back(source.make(step).tokens);
            if (step == steps) {
                reads = source.cache().reads();
                lengths = source.lengths().rows_read();
            }
        }
        const auto share = [](std::int64_t of, std::int64_t whole) {
            return static_cast<double>(of) / static_cast<double>(whole);
        };
        const double whole_rows = share(source.cache().reads() - reads, bands);
        const double masks = share(source.lengths().rows_read() - lengths, bands * rows_of_band);
        WARN("rank " << settings.rank << " inflated " << whole_rows << " of the rows, and input_mask alone of " << masks
                     << " (inflated, a row is 928 bytes, 128 of them input_mask)");
        CHECK(whole_rows <= 0.30);
    }
    double worst = 0;
    for (const auto& of_step : tokens) {
        const auto [least, most] = std::minmax_element(of_step.begin(), of_step.end());
        worst = std::max(worst, static_cast<double>(*most - *least) / static_cast<double>(*least));
    }
    WARN("largest difference of token counts in a step: " << worst * 100 << " %");
    CHECK(worst < 0.01);
}
