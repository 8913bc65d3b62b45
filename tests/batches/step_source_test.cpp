#include "batches/step_source.h"

#include <map>
#include <set>

#include "batches/refusal.h"
#include "batches/sample_shards.h"
#include "core/error.h"
#include "shards/sample_rows.h"
#include "support/catch.h"
#include "support/golden.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::vector<std::int64_t> uneven{10, 20, 5, 12, 30, 7, 16};  // 100 rows

BatchLoaderSettings settings_of(std::int64_t global_batch_sequences, std::int64_t micro_batch_size) {
    BatchLoaderSettings settings;
    settings.seed = 5;
    settings.batch_sizes = global_batch_sequences;
    settings.micro_batch_size = micro_batch_size;
    settings.format = sample_format();
    settings.window_rows = 40;
    return settings;
}

/// Returns the sample numbers of a step with their shards and rows, in the batch's order.
std::vector<std::pair<std::int64_t, Origin>> samples_of(const GlobalBatch& batch) {
    std::vector<std::pair<std::int64_t, Origin>> samples;
    for (const MicroBatch& micro_batch : batch.micro_batches) {
        const std::vector<Origin> origins = origins_of(micro_batch);
        for (std::size_t b = 0; b < origins.size(); ++b) samples.emplace_back(micro_batch.layout.samples_B[b], origins[b]);
    }
    return samples;
}

bool are_equal(const MicroBatch& a, const MicroBatch& b) {
    return at::equal(a.input_ids_T, b.input_ids_T) && at::equal(a.token_type_ids_T, b.token_type_ids_T) &&
           at::equal(a.position_ids_T, b.position_ids_T) && at::equal(a.samples_T, b.samples_T) &&
           at::equal(a.read_rows_R, b.read_rows_R) && at::equal(a.masked_rows_M, b.masked_rows_M) &&
           at::equal(a.masked_labels_M, b.masked_labels_M) && at::equal(a.next_sentence_labels_B, b.next_sentence_labels_B);
}

}  // namespace

TEST_CASE("step k holds samples (k - 1) G to k G of the order, with the shards' rows") {
    const SampleShards shards(uneven);
    StepSource source(shards.files, settings_of(24, 8));
    std::vector<OrderedShard> ordered;
    for (std::size_t s = 0; s < uneven.size(); ++s)
        ordered.push_back({shards.files[s].filename().string(), uneven[s], uneven[s], {}});
    SampleOrder order(ordered, 5, 40);
    for (const std::int64_t step : {1, 2, 4, 5, 9, 3}) {
        const GlobalBatch batch = source.make(step);
        CHECK(batch.micro_batches.size() == 3);
        std::int64_t number = (step - 1) * 24, tokens = 0, masked = 0;
        for (const auto& [found_number, origin] : samples_of(batch)) {
            const SamplePlace place = order.locate(number);
            CHECK(found_number == number++);
            CHECK(origin == Origin{place.band.shard, place.row_in_shard()});
        }
        for (const MicroBatch& micro_batch : batch.micro_batches) {
            tokens += micro_batch.tokens();
            masked += micro_batch.masked();
        }
        CHECK(number == step * 24);
        CHECK(batch.sequences == 24);
        CHECK(batch.tokens == tokens);
        CHECK(batch.masked == masked);
    }
}

TEST_CASE("with a batch warm-up, consecutive steps hold consecutive samples, on any number of ranks") {
    const SampleShards shards(uneven);
    BatchLoaderSettings settings = settings_of(24, 8);
    settings.batch_sizes = {24, {5, 6, 6}};  // 6, 6, 12, 12, 18, 24, ...
    StepSource alone(shards.files, settings), constant(shards.files, settings_of(6, 6));
    std::vector<StepSource> ranks;
    settings.world_size = 3;
    for (settings.rank = 0; settings.rank < 3; ++settings.rank) ranks.emplace_back(shards.files, settings);
    std::int64_t number = 0, of_six = 0;
    for (std::int64_t step = 1; step <= 8; ++step) {
        INFO(step);
        const auto samples = samples_of(alone.make(step));
        CHECK(std::ssize(samples) == settings.batch_sizes.of(step));
        for (const auto& [found, origin] : samples) CHECK(found == number++);
        std::vector<std::pair<std::int64_t, Origin>> expected, together;
        while (std::ssize(expected) < std::ssize(samples))
            for (const auto& sample : samples_of(constant.make(++of_six))) expected.push_back(sample);
        CHECK(samples == expected);
        for (StepSource& rank : ranks)
            for (const auto& sample : samples_of(rank.make(step))) together.push_back(sample);
        std::sort(together.begin(), together.end());
        CHECK(together == samples);
        std::int64_t rows = 0;
        for (const auto& [file, of_file] : alone.rows_by_file(step)) rows += std::ssize(of_file);
        CHECK(rows == std::ssize(samples));
    }
}

TEST_CASE("the micro-batch's size changes neither the samples nor their order") {
    const SampleShards shards(uneven);
    StepSource whole(shards.files, settings_of(24, 24));
    for (const std::int64_t micro_batch_size : {4, 8, 24, 7, 100}) {
        StepSource source(shards.files, settings_of(24, micro_batch_size));
        for (const std::int64_t step : {1, 5, 6}) {
            const GlobalBatch batch = source.make(step);
            CHECK(samples_of(batch) == samples_of(whole.make(step)));
            CHECK(batch.micro_batches.front().sequences() == std::min<std::int64_t>(24, micro_batch_size));
        }
    }
}

TEST_CASE("an epoch's last batch continues into the next epoch, so that every row is used in each") {
    const SampleShards shards(uneven);
    StepSource source(shards.files, settings_of(24, 8));
    std::map<Origin, int> seen_at_epoch[3];
    for (std::int64_t step = 1; step <= 13; ++step)  // 312 samples
        for (const auto& [number, origin] : samples_of(source.make(step)))
            if (number < 300) ++seen_at_epoch[number / 100][origin];
    for (const auto& seen : seen_at_epoch) {
        CHECK(seen.size() == 100);
        for (const auto& [origin, times] : seen) CHECK(times == 1);
    }
}

TEST_CASE("a step larger than the corpus holds it several times") {
    const SampleShards shards({5, 4});
    StepSource source(shards.files, settings_of(40, 16));
    std::map<Origin, int> seen;
    for (const auto& [number, origin] : samples_of(source.make(1)))
        if (number < 36) ++seen[origin];
    CHECK(seen.size() == 9);
    for (const auto& [origin, times] : seen) CHECK(times == 4);
}

TEST_CASE("all ranks together compute the samples of a single rank, and each reads its share of the bands") {
    const std::vector<std::int64_t> twelve(12, 20);
    const SampleShards shards(twelve);
    BatchLoaderSettings settings = settings_of(24, 4);
    settings.window_rows = 240;  // one window: all bands
    StepSource alone(shards.files, settings);
    for (const std::int64_t world_size : {2, 3, 4, 24}) {
        std::vector<StepSource> ranks;
        for (std::int64_t rank = 0; rank < world_size; ++rank) {
            settings.rank = rank;
            settings.world_size = world_size;
            ranks.emplace_back(shards.files, settings);
        }
        for (const std::int64_t step : {1, 2, 3}) {
            std::vector<std::pair<std::int64_t, Origin>> together;
            std::int64_t tokens = 0, masked = 0, most = 0, least = 1 << 30;
            for (StepSource& rank : ranks) {
                const GlobalBatch batch = rank.make(step);
                const auto part = samples_of(batch);
                CHECK(!part.empty());
                most = std::max(most, batch.tokens);
                least = std::min(least, batch.tokens);
                CHECK(std::is_sorted(part.begin(), part.end()));
                together.insert(together.end(), part.begin(), part.end());
                tokens += batch.tokens;
                masked += batch.masked;
            }
            std::sort(together.begin(), together.end());
            const GlobalBatch whole = alone.make(step);
            CHECK(together == samples_of(whole));
            CHECK(tokens == whole.tokens);
            CHECK(masked == whole.masked);
            if (world_size <= 4) CHECK(most - least <= sample_length);  // each cut is within half a row of the ideal position
        }
        if (world_size == 3)  // four bands each, those at the moving cuts between ranks, and two of the next epoch
            for (StepSource& rank : ranks) CHECK(rank.cache().reads() <= 10);
    }
}

TEST_CASE("a checked step's batch has another rank's first micro-batch, in time of each other rank, as that rank builds it") {
    const SampleShards shards(uneven);
    BatchLoaderSettings settings = settings_of(24, 3);
    settings.world_size = 4;
    settings.cross_check_every_steps = 5;
    std::vector<StepSource> ranks;
    for (settings.rank = 0; settings.rank < settings.world_size; ++settings.rank) ranks.emplace_back(shards.files, settings);
    std::set<std::int64_t> checked_by_2;
    for (std::int64_t step = 1; step <= 15; ++step) {
        std::vector<GlobalBatch> batches;
        for (StepSource& rank : ranks) batches.push_back(rank.make(step));
        std::set<std::int64_t> checked;
        for (const GlobalBatch& batch : batches) {
            REQUIRE(batch.cross_check.has_value() == (step % 5 == 0));
            if (!batch.cross_check) continue;
            checked.insert(batch.cross_check->rank);
            const MicroBatch& theirs = batches[static_cast<std::size_t>(batch.cross_check->rank)].micro_batches.front();
            CHECK(are_equal(batch.cross_check->micro_batch, theirs));
        }
        if (step % 5 == 0) CHECK(checked.size() == 4);
        if (step % 5 == 0) checked_by_2.insert(batches[2].cross_check->rank);
        CHECK(are_equal(ranks[1].first_micro_batch(step, 3), batches[3].micro_batches.front()));
    }
    CHECK(checked_by_2 == std::set<std::int64_t>{0, 1, 3});
}

TEST_CASE("an epoch reads every band once, within the memory of two windows") {
    const SampleShards shards(std::vector<std::int64_t>(20, 10));
    BatchLoaderSettings settings = settings_of(20, 5);
    settings.cache_bytes = GENERATE(std::int64_t{0}, std::int64_t{1} << 30);  // past bands are dropped even if there is room
    StepSource source(shards.files, settings);
    SampleOrder order(std::vector<OrderedShard>(20, {"x", 10, 10, {}}), 5, 40);
    for (std::int64_t step = 1; step <= 10; ++step) {
        source.make(step);
        CHECK(source.cache().bytes() <= 2 * order.most_rows_in_window() * bytes_of_row(sample_length, sample_predictions));
    }
    CHECK(source.cache().reads() == 20 + 4);  // the next epoch's first window has been read
    for (std::int64_t step = 11; step <= 20; ++step) source.make(step);
    CHECK(source.cache().reads() == 40 + 4);
}

TEST_CASE("with a cache too small for the window bands are read more often, with the same samples") {
    const SampleShards shards(uneven);
    BatchLoaderSettings settings = settings_of(24, 8);
    StepSource ample(shards.files, settings);
    settings.cache_bytes = 12 * bytes_of_row(sample_length, sample_predictions);
    StepSource scarce(shards.files, settings);
    for (std::int64_t step = 1; step <= 5; ++step) {
        CHECK(samples_of(scarce.make(step)) == samples_of(ample.make(step)));
        CHECK(scarce.cache().bytes() <= 30 * bytes_of_row(sample_length, sample_predictions));  // the largest band
    }
    CHECK(scarce.cache().reads() <= 5 * 7);  // no band twice in a step
}

TEST_CASE("shards with different numbers of predictions are read together") {
    SampleShards shards(uneven);
    shards.add(25, sample_length, sample_predictions + 6);
    StepSource source(shards.files, settings_of(25, 5));
    std::set<Origin> seen;
    std::int64_t masked = 0, masked_expected = 0;
    for (std::int64_t step = 1; step <= 5; ++step) {
        const GlobalBatch batch = source.make(step);
        for (const auto& [number, origin] : samples_of(batch)) seen.insert(origin);
        masked += batch.masked;
    }
    for (std::size_t s = 0; s < shards.files.size(); ++s) {
        const ShardReader reader(shards.files[s]);
        for (const std::int32_t position : reader.read(0, reader.rows()).masked_lm_positions_RP) masked_expected += position != 0;
    }
    CHECK(seen.size() == 125);
    CHECK(masked == masked_expected);
}

TEST_CASE("a shard of several bands is read band by band") {
    SampleShards shards({}, 4096);
    shards.add(70, 4096);  // bands of 32 rows
    shards.add(33, 4096);
    BatchLoaderSettings settings = settings_of(103, 103);
    settings.format = sample_format(4096);
    settings.window_rows = 33;
    StepSource source(shards.files, settings);
    std::set<Origin> seen;
    for (const auto& [number, origin] : samples_of(source.make(1))) seen.insert(origin);
    CHECK(seen.size() == 103);
    CHECK(source.cache().reads() == 5 + 2);  // all bands, and the next epoch's first window
    CHECK(source.fingerprint().find("bands 5") != std::string::npos);
}

TEST_CASE("NVIDIA's own shards give each of their rows once an epoch") {
    const std::filesystem::path file = golden_sample("nvidia_seq128_pred20_dupe1_seed1.hdf5");
    BatchLoaderSettings settings = settings_of(2 * 586, 100);
    settings.format = {.sequence_length = 128, .max_position_embeddings = 512, .vocab_size = 2000};
    settings.window_rows = 500;
    const TemporaryFolder folder;
    const std::filesystem::path copy = folder / "copy.hdf5";
    std::filesystem::copy_file(file, copy);
    const std::vector<std::filesystem::path> files{file, copy};
    const GlobalBatch batch = StepSource(files, settings).make(1);
    std::multiset<std::vector<std::int64_t>> expected, found;
    for (const std::filesystem::path& shard : files) {
        const ShardReader reader(shard);
        const ShardRows rows = reader.read(0, reader.rows());
        for (std::int64_t r = 0; r < rows.rows; ++r) {
            std::vector<std::int64_t> ids;
            for (std::int64_t i = r * 128; i < (r + 1) * 128; ++i)
                if (rows.input_mask_RS[static_cast<std::size_t>(i)] == 1)
                    ids.push_back(rows.input_ids_RS[static_cast<std::size_t>(i)]);
            expected.insert(ids);
        }
    }
    for (const MicroBatch& micro_batch : batch.micro_batches) {
        const auto* ids = micro_batch.input_ids_T.const_data_ptr<std::int64_t>();
        for (std::size_t b = 0; b + 1 < micro_batch.layout.starts_B1.size(); ++b)
            found.insert(
                std::vector<std::int64_t>(ids + micro_batch.layout.starts_B1[b], ids + micro_batch.layout.starts_B1[b + 1]));
    }
    CHECK(found.size() == 2 * 586);
    CHECK(found == expected);
}

TEST_CASE("more ranks than sequences in a step are refused with the largest possible number") {
    const SampleShards shards({10});
    BatchLoaderSettings settings = settings_of(24, 4);
    settings.world_size = 30;
    const std::string refusal = refusal_of<ConfigError>([&] { StepSource(shards.files, settings); });
    CHECK(missing_in(refusal, "24 sequences", "at most 24 ranks", "batch.global_batch_size").empty());
}

TEST_CASE("after the first window no step reads more than its share: the next window's bands are read one by one in advance") {
    const SampleShards shards(std::vector<std::int64_t>(40, 10));
    StepSource source(shards.files, settings_of(4, 4));                 // a window has 40 rows of 4 bands
    for (std::int64_t step = 1; step <= 10; ++step) source.make(step);  // the first window, which was not read ahead
    for (std::int64_t step = 11; step <= 200; ++step) {                 // to the end of the second epoch
        const std::int64_t before = source.cache().reads();
        source.make(step);
        CHECK(source.cache().reads() - before <= 1);
    }
    CHECK(source.cache().reads() == 80 + 4);
}

namespace {

struct MaskedSample {
    std::vector<std::int64_t> ids, masked_places, labels;
    bool operator==(const MaskedSample&) const = default;
};

/// Adds ids, masked positions and labels of a rank's samples of a step to `samples`, by sample number.
void collect(const GlobalBatch& batch, std::map<std::int64_t, MaskedSample>& samples) {
    for (const MicroBatch& micro_batch : batch.micro_batches) {
        const auto* ids = micro_batch.input_ids_T.const_data_ptr<std::int64_t>();
        const auto* rows = micro_batch.masked_rows_M.const_data_ptr<std::int64_t>();
        const auto* labels = micro_batch.masked_labels_M.const_data_ptr<std::int64_t>();
        for (std::size_t b = 0; b < micro_batch.layout.samples_B.size(); ++b) {
            const std::int64_t begin = micro_batch.layout.starts_B1[b], end = micro_batch.layout.starts_B1[b + 1];
            MaskedSample& sample = samples[micro_batch.layout.samples_B[b]];
            sample.ids.assign(ids + begin, ids + end);
            for (std::int64_t m = 0; m < micro_batch.masked(); ++m)
                if (rows[m] >= begin && rows[m] < end) {
                    sample.masked_places.push_back(rows[m] - begin);
                    sample.labels.push_back(labels[m]);
                }
        }
    }
}

}  // namespace

TEST_CASE("dynamic masks depend on the sample's number: not on ranks, micro-batches or the step of a resume") {
    constexpr std::int32_t cls = 1998;
    SampleShards shards({});
    shards.files.push_back(shards.folder / "wiki_training_0000.h5");
    ShardRows rows = sample_rows(0, 0, 40);
    for (std::int64_t r = 0; r < 40; ++r) rows.input_ids_RS[static_cast<std::size_t>(r * sample_length)] = cls;
    write_shard(
        shards.files[0], {40, sample_length, sample_predictions},
        [&](std::int64_t first, std::int64_t count) { return slice(rows, first, count); }, 1);
    const auto run = [&](std::int64_t world_size, std::int64_t micro_batch_size, const std::vector<std::int64_t>& steps) {
        std::map<std::int64_t, MaskedSample> samples;
        for (std::int64_t rank = 0; rank < world_size; ++rank) {
            BatchLoaderSettings settings = settings_of(8, micro_batch_size);
            settings.rank = rank;
            settings.world_size = world_size;
            settings.masking = DynamicMasking{{0.3, 16, {}}, {0, 1, cls, 1999, 4}, 2000, 3};
            StepSource source(shards.files, settings);
            for (const std::int64_t step : steps) collect(source.make(step), samples);
        }
        return samples;
    };
    const std::vector<std::int64_t> all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const auto expected = run(1, 8, all);
    REQUIRE(expected.size() == 80);
    CHECK((run(2, 3, all) == expected));
    CHECK((run(4, 1, {10, 1, 9, 2, 8, 3, 7, 4, 6, 5}) == expected));
    const auto resumed = run(1, 8, {7, 8});
    CHECK(std::equal(resumed.begin(), resumed.end(), expected.find(48)));
    // The same rows have other masks in the second epoch.
    std::set<std::vector<std::int64_t>> first_epoch, second_epoch;
    for (const auto& [number, sample] : expected) (number < 40 ? first_epoch : second_epoch).insert(sample.ids);
    CHECK(first_epoch != second_epoch);
}

TEST_CASE("a step's rows by file are the rows of the samples of all ranks") {
    const SampleShards shards(uneven);
    BatchLoaderSettings settings = settings_of(24, 8);
    settings.world_size = 2;
    StepSource first(shards.files, settings);
    settings.rank = 1;
    StepSource second(shards.files, settings);
    for (const std::int64_t step : {1, 2, 7}) {
        RowsByFile held;
        for (StepSource* source : {&first, &second})
            for (const auto& [number, origin] : samples_of(source->make(step)))
                held[shards.files[static_cast<std::size_t>(origin.first)]].push_back(origin.second);
        for (auto& [file, rows] : held) std::sort(rows.begin(), rows.end());
        CHECK(first.rows_by_file(step) == held);
        CHECK(second.rows_by_file(step) == held);
    }
}
