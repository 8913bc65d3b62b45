// How evenly and efficiently ranks share a corpus whose windows have a realistic size.
#include <algorithm>

#include "batches/step_source.h"
#include "core/random.h"
#include "shards/build/sample.h"
#include "shards/build/shard_writer.h"
#include "shards/hdf5_handle.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t length = 128, predictions = 20, bands = 192, rows_of_band = 1024, all_ranks = 4;

/// Returns rows like those of real shards: one in ten of a random length, the others nearly full. Ids, masked positions and
/// sentences compress like real ones (a shard of Wikipedia: 154 bytes of ids per row, 3.2 of input_mask, 1.5 % of all).
ShardRows rows_of(std::int64_t shard, std::int64_t first, std::int64_t count) {
    ShardRows rows = empty_rows(count, length, predictions);
    RandomSequence random(1, Purpose::masking, static_cast<std::uint64_t>(shard), static_cast<std::uint32_t>(first));
    for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t tokens = random.below(10) == 0 ? 5 + random.below(124) : 100 + random.below(29);
        const auto begin = static_cast<std::ptrdiff_t>(row * length);
        const auto id = [&] { return static_cast<std::int32_t>(random.below(1 + random.below(1 + random.below(30522)))); };
        std::generate_n(rows.input_ids_RS.begin() + begin, tokens, id);
        std::fill_n(rows.input_mask_RS.begin() + begin, tokens, std::int8_t{1});
        std::fill_n(rows.segment_ids_RS.begin() + begin + tokens / 2, tokens - tokens / 2, std::int8_t{1});
        const auto list = static_cast<std::ptrdiff_t>(row * predictions);
        for (std::ptrdiff_t i = 0; i < std::min<std::ptrdiff_t>(predictions, tokens / 7); ++i) {
            rows.masked_lm_positions_RP[static_cast<std::size_t>(list + i)] =
                static_cast<std::int32_t>(1 + 6 * i + random.below(6));
            rows.masked_lm_ids_RP[static_cast<std::size_t>(list + i)] = 5 + id();
        }
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

/// Returns input_mask's share of the files' compressed bytes.
double mask_share(const std::vector<std::filesystem::path>& files) {
    const Hdf5Lock lock;
    double masks = 0, all = 0;
    for (const auto& file : files) {
        const Hdf5Handle shard(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
        for (const char* name :
             {"input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels"}) {
            const Hdf5Handle dataset(H5Dopen2(shard.get(), name, H5P_DEFAULT));
            const auto bytes = static_cast<double>(H5Dget_storage_size(dataset.get()));
            REQUIRE(bytes > 0);
            all += bytes;
            if (std::string_view(name) == "input_mask") masks += bytes;
        }
    }
    return masks / all;
}

struct RankShares {
    double most_rows = 0;         ///< largest share of all rows that one rank inflates in an epoch
    double most_masks = 0;        ///< largest share of all rows of which it inflates only input_mask
    double token_difference = 0;  ///< largest difference in tokens between ranks in a step, relative to the smaller count
};

RankShares shares_of(const std::vector<std::filesystem::path>& files, std::int64_t global_batch) {
    BatchLoaderSettings settings;
    settings.seed = 3;
    settings.batch_sizes = global_batch;
    settings.micro_batch_size = 16;
    settings.format = {length, 512, 30522};
    settings.world_size = all_ranks;
    settings.window_rows = 64 * rows_of_band;
    settings.threads = 2;
    const std::int64_t steps = bands * rows_of_band / global_batch;  // per epoch
    std::vector<std::vector<std::int64_t>> tokens(static_cast<std::size_t>(2 * steps));
    RankShares shares;
    for (settings.rank = 0; settings.rank < all_ranks; ++settings.rank) {
        StepSource source(files, settings);
        // Measures the second epoch: what it reads ahead for the third makes up for what the first has read ahead for it.
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
        shares.most_rows = std::max(shares.most_rows, share(source.cache().reads() - reads, bands));
        shares.most_masks = std::max(shares.most_masks, share(source.lengths().rows_read() - lengths, bands * rows_of_band));
    }
    for (const auto& of_step : tokens) {
        const auto [least, most] = std::minmax_element(of_step.begin(), of_step.end());
        shares.token_difference =
            std::max(shares.token_difference, static_cast<double>(*most - *least) / static_cast<double>(*least));
    }
    return shares;
}

}  // namespace

TEST_CASE("of windows of 64 bands, each of four ranks reads at most 0.30, with equally many tokens in every step") {
    const TemporaryFolder folder;
    const auto files = write_corpus(folder);
    const double masks = mask_share(files);
    for (const std::int64_t global_batch : {12'288, 3'072, 768}) {
        const RankShares shares = shares_of(files, global_batch);
        const double bytes = shares.most_rows + shares.most_masks * masks;
        WARN("global batch " << global_batch << ": a rank inflates at most " << shares.most_rows
                             << " of the rows whole and the input_mask of " << shares.most_masks << ": " << bytes
                             << " of the corpus' bytes as stored, "
                             << shares.most_rows + shares.most_masks * length / 928.0  // bytes per row
                             << " as inflated; token counts differ by " << shares.token_difference * 100 << " %");
        if (global_batch == 12'288) CHECK(bytes <= 0.30);
        if (global_batch == 12'288) CHECK(shares.token_difference < 0.01);
        CHECK(shares.most_rows < 1);
    }
}
