// The loader's batches from several sources.

#include <map>
#include <set>

#include <ATen/ops/equal.h>

#include "batches/refusal.h"
#include "batches/sample_shards.h"
#include "batches/step_source.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Two sources of 47 and 65 rows, whose shards are numbered through.
struct TwoSources {
    SampleShards shards{{10, 20, 5, 12, 30, 7, 16, 12}};

    std::vector<std::vector<std::filesystem::path>> files() const {
        return {{shards.files.begin(), shards.files.begin() + 4}, {shards.files.begin() + 4, shards.files.end()}};
    }
    TrainingSources mixed(std::vector<MixturePart> parts = {{0, {2, 1}}}) const { return {files(), Mixture(std::move(parts))}; }
};

BatchLoaderSettings mixed_settings(std::int64_t global_batch_sequences = 24, std::int64_t micro_batch_size = 8) {
    BatchLoaderSettings settings;
    settings.seed = 5;
    settings.batch_sizes = global_batch_sequences;
    settings.micro_batch_size = micro_batch_size;
    settings.format = sample_format();
    settings.window_rows = 30;
    return settings;
}

/// Shard and row of each sample of a step, by the sample's number.
std::map<std::int64_t, Origin> origins_by_number(const GlobalBatch& batch) {
    std::map<std::int64_t, Origin> samples;
    for (const MicroBatch& micro_batch : batch.micro_batches) {
        const std::vector<Origin> origins = origins_of(micro_batch);
        for (std::size_t b = 0; b < origins.size(); ++b) samples[micro_batch.layout.samples_B[b]] = origins[b];
    }
    return samples;
}

}  // namespace

TEST_CASE("each sample of a mixture is its source's next sample in that source's own order") {
    const TwoSources two;
    const Mixture mixture({{0, {2, 1}}});
    StepSource source(two.mixed(), mixed_settings());
    std::vector<SampleOrder> orders{{{{"0", 10, 10, {}}, {"1", 20, 20, {}}, {"2", 5, 5, {}}, {"3", 12, 12, {}}}, 5, 30, 0},
                                    {{{"4", 30, 30, {}}, {"5", 7, 7, {}}, {"6", 16, 16, {}}, {"7", 12, 12, {}}}, 5, 30, 1}};
    for (const std::int64_t step : {1, 2, 3, 40, 7}) {
        const std::map<std::int64_t, Origin> samples = origins_by_number(source.make(step));
        CHECK(samples.size() == 24);
        for (const auto& [number, origin] : samples) {
            CHECK((number >= (step - 1) * 24 && number < step * 24));
            const Mixture::Place place = mixture.locate(number);
            const SamplePlace stored = orders[place.source].locate(place.number);
            CHECK(origin == Origin{stored.band.shard + (place.source == 0 ? 0 : 4), stored.row_in_shard()});
        }
    }
    CHECK(source.rows_of_sources() == std::vector<std::int64_t>{47, 65});
}

TEST_CASE("each source counts its own epochs") {
    const TwoSources two;
    StepSource source(two.mixed(), mixed_settings());
    std::map<Origin, int> seen;
    std::int64_t of_first = 0, of_second = 0;
    for (std::int64_t step = 1; step <= 30; ++step)
        for (const auto& [number, origin] : origins_by_number(source.make(step))) {
            const bool is_first = origin.first < 4;
            if ((is_first ? of_first : of_second)++ < (is_first ? 47 * 10 : 65 * 3)) ++seen[origin];
        }
    CHECK(of_first == 480);
    CHECK(of_second == 240);
    CHECK(seen.size() == 47 + 65);
    for (const auto& [origin, times] : seen) CHECK(times == (origin.first < 4 ? 10 : 3));
}

TEST_CASE("two sources with equal files have different orders") {
    const SampleShards shards({10, 20, 5});
    StepSource source(TrainingSources({shards.files, shards.files}, Mixture({{0, {1, 1}}})), mixed_settings(70, 70));
    std::vector<Origin> orders[2];
    for (const auto& [number, origin] : origins_by_number(source.make(1))) orders[number % 2].push_back(origin);
    CHECK(orders[0].size() == orders[1].size());
    CHECK(orders[0] != orders[1]);
}

TEST_CASE("a list of one source gives the batches of the source alone") {
    const SampleShards shards({10, 20, 5, 12});
    StepSource alone(shards.files, mixed_settings()),
        listed(TrainingSources({shards.files}, Mixture(std::vector<MixturePart>{{0, {7}}})), mixed_settings());
    CHECK(alone.fingerprint() == listed.fingerprint());
    for (const std::int64_t step : {1, 2, 9}) {
        const GlobalBatch a = alone.make(step), b = listed.make(step);
        REQUIRE(a.micro_batches.size() == b.micro_batches.size());
        for (std::size_t i = 0; i < a.micro_batches.size(); ++i) {
            const MicroBatch &of_alone = a.micro_batches[i], &of_list = b.micro_batches[i];
            CHECK(at::equal(of_alone.input_ids_T, of_list.input_ids_T));
            CHECK(at::equal(of_alone.samples_T, of_list.samples_T));
            CHECK(at::equal(of_alone.masked_labels_M, of_list.masked_labels_M));
            CHECK(of_list.source_parts.empty());
        }
    }
}

TEST_CASE("a mixture has the same samples on 1, 2 and 3 ranks, with any micro-batch, and after any seek") {
    const TwoSources two;
    std::vector<std::map<std::int64_t, Origin>> expected;
    {
        StepSource alone(two.mixed(), mixed_settings());
        for (std::int64_t step = 1; step <= 12; ++step) expected.push_back(origins_by_number(alone.make(step)));
    }
    for (const std::int64_t ranks : {1, 2, 3})
        for (const std::int64_t micro_batch : {3, 8, 24}) {
            std::vector<StepSource> sources;
            for (std::int64_t rank = 0; rank < ranks; ++rank) {
                BatchLoaderSettings settings = mixed_settings(24, micro_batch);
                settings.rank = rank;
                settings.world_size = ranks;
                sources.emplace_back(two.mixed(), settings);
            }
            for (const std::int64_t step : {9, 10, 11, 12, 3, 4}) {
                std::map<std::int64_t, Origin> together;
                std::int64_t sequences = 0;
                for (StepSource& source : sources) {
                    const GlobalBatch batch = source.make(step);
                    sequences += batch.sequences;
                    together.merge(origins_by_number(batch));
                }
                CAPTURE(ranks, micro_batch, step);
                CHECK(sequences == 24);
                CHECK(together == expected[static_cast<std::size_t>(step - 1)]);
            }
        }
}

TEST_CASE("the sequences and masked tokens of a micro-batch are sorted and counted by source") {
    const TwoSources two;
    StepSource source(two.mixed(), mixed_settings(24, 9));
    for (std::int64_t step = 1; step <= 6; ++step)
        for (const MicroBatch& batch : source.make(step).micro_batches) {
            const std::vector<Origin> origins = origins_of(batch);
            const auto* masked_rows = batch.masked_rows_M.const_data_ptr<std::int64_t>();
            std::vector<SourcePart> counted(2);
            for (std::size_t b = 0; b < origins.size(); ++b) {
                SourcePart& part = counted[origins[b].first < 4 ? 0 : 1];
                ++part.sequences;
                for (std::int64_t m = 0; m < batch.masked(); ++m)
                    if (masked_rows[m] >= batch.layout.starts_B1[b] && masked_rows[m] < batch.layout.starts_B1[b + 1])
                        ++part.masked;
                if (b > 0 && origins[b].first < 4) CHECK(origins[b - 1].first < 4);
            }
            REQUIRE(batch.source_parts.size() == 2);
            for (const SourcePart& part : batch.source_parts) {
                CHECK(part.sequences == counted[part.source].sequences);
                CHECK(part.masked == counted[part.source].masked);
            }
        }
}

TEST_CASE("each source keeps at most two windows of rows, and reads each band once per epoch") {
    const SampleShards shards(std::vector<std::int64_t>(24, 10));
    const std::vector<std::vector<std::filesystem::path>> files{{shards.files.begin(), shards.files.begin() + 12},
                                                                {shards.files.begin() + 12, shards.files.end()}};
    BatchLoaderSettings settings = mixed_settings(30, 10);
    settings.window_rows = 40;
    StepSource source(TrainingSources(files, Mixture({{0, {2, 1}}})), settings);
    const SampleOrder order(std::vector<OrderedShard>(12, {"x", 10, 10, {}}), 5, 40);
    for (std::int64_t step = 1; step <= 12; ++step) {  // 2 epochs of the first source, 1 of the second
        source.make(step);
        for (std::size_t s = 0; s < 2; ++s)
            CHECK(source.cache(s).bytes() <= 2 * order.most_rows_in_window() * bytes_of_row(sample_length, sample_predictions));
    }
    CHECK(source.cache(0).reads() == 24 + 4);  // the next epoch's first window has been read
    CHECK(source.cache(1).reads() == 12 + 4);
}

TEST_CASE("the rows of a step are named for all sources, and a source of another length is refused") {
    const TwoSources two;
    StepSource source(two.mixed(), mixed_settings());
    std::set<std::pair<std::filesystem::path, std::int64_t>> expected, named;
    for (const auto& [number, origin] : origins_by_number(source.make(2)))
        expected.emplace(two.shards.files[static_cast<std::size_t>(origin.first)], origin.second);
    for (const auto& [file, rows] : source.rows_by_file(2))
        for (const std::int64_t row : rows) named.emplace(file, row);
    CHECK(named == expected);

    const SampleShards longer({10}, 2 * sample_length);
    const TrainingSources mixed({two.shards.files, longer.files}, Mixture({{0, {1, 1}}}));
    CHECK(missing_in(refusal_of<DataError>([&] { StepSource(mixed, mixed_settings()); }),
                     longer.files[0].string() + ": rows are 32 tokens long, expected 16")
              .empty());
}
