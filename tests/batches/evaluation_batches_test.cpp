#include "batches/evaluation_batches.h"

#include <map>

#include "batches/sample_shards.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

EvaluationSettings settings_of(std::int64_t micro_batch_size, std::int64_t max_sequences = 0) {
    EvaluationSettings settings;
    settings.format = sample_format();
    settings.micro_batch_size = micro_batch_size;
    settings.max_sequences = max_sequences;
    return settings;
}

std::vector<EvaluationSource> one_source(const std::vector<std::filesystem::path>& files) { return {{"", files}}; }

/// Reads all remaining micro-batches, and checks that only the last one is short.
std::vector<Origin> read_all(EvaluationBatches& batches, std::int64_t micro_batch_size) {
    std::vector<Origin> all;
    std::int64_t size_before = micro_batch_size;
    while (const std::optional<MicroBatch> batch = batches.next()) {
        CHECK(size_before == micro_batch_size);
        size_before = batch->sequences();
        for (const Origin& origin : origins_of(*batch)) all.push_back(origin);
    }
    CHECK_FALSE(batches.next());
    return all;
}

std::vector<Origin> first_rows(const std::vector<std::int64_t>& rows_of_shard) {
    std::vector<Origin> all;
    for (std::size_t s = 0; s < rows_of_shard.size(); ++s)
        for (std::int64_t row = 0; row < rows_of_shard[s]; ++row) all.emplace_back(s, row);
    return all;
}

}  // namespace

TEST_CASE("evaluation reads every row once, in the order of the files, for any micro-batch size") {
    const SampleShards shards({10, 3, 17});
    for (const std::int64_t micro_batch_size : {1, 4, 30, 64}) {
        EvaluationBatches batches(one_source(shards.files), settings_of(micro_batch_size));
        CHECK(batches.total_sequences() == 30);
        CHECK(read_all(batches, micro_batch_size) == first_rows({10, 3, 17}));
        batches.rewind();
        CHECK(read_all(batches, micro_batch_size) == first_rows({10, 3, 17}));
    }
}

TEST_CASE("a limited evaluation reads each shard's first rows in proportion, and exactly the limit in all") {
    const SampleShards shards({100, 50, 10, 40});
    EvaluationBatches batches(one_source(shards.files), settings_of(8, 20));
    CHECK(read_all(batches, 8) == first_rows({10, 5, 1, 4}));
    for (const std::int64_t cap : {1, 7, 199, 200, 1000}) {
        EvaluationBatches capped(one_source(shards.files), settings_of(8, cap));
        const std::vector<Origin> all = read_all(capped, 8);
        CHECK(static_cast<std::int64_t>(all.size()) == std::min<std::int64_t>(cap, 200));
        CHECK(capped.sequences() == static_cast<std::int64_t>(all.size()));
        std::map<std::int64_t, std::int64_t> rows_of;
        for (const auto& [shard, row] : all) CHECK(row == rows_of[shard]++);
    }
}

TEST_CASE("evaluation reads a shard of several bands") {
    SampleShards shards({}, 4096);
    shards.add(70, 4096);  // bands of 32 rows
    shards.add(40, 4096);
    EvaluationSettings settings = settings_of(9);
    settings.format = sample_format(4096);
    EvaluationBatches batches(one_source(shards.files), settings);
    CHECK(read_all(batches, 9) == first_rows({70, 40}));
}

TEST_CASE("ranks share an evaluation without gap or overlap, and sample numbers are those of a single rank") {
    const SampleShards shards({10, 3, 17});
    for (const std::int64_t world_size : {1, 3, 4, 40}) {
        std::vector<Origin> together;
        std::int64_t number = 0;
        for (std::int64_t rank = 0; rank < world_size; ++rank) {
            EvaluationSettings settings = settings_of(4);
            settings.rank = rank;
            settings.world_size = world_size;
            EvaluationBatches batches(one_source(shards.files), settings);
            while (const std::optional<MicroBatch> batch = batches.next()) {
                for (const Origin& origin : origins_of(*batch)) together.push_back(origin);
                for (const std::int64_t found : batch->layout.samples_B) CHECK(found == number++);
            }
        }
        CHECK(together == first_rows({10, 3, 17}));
    }
}

TEST_CASE("sources are evaluated one after the other, and each micro-batch has the parts of its sources") {
    const SampleShards shards({10, 3, 17});
    const std::vector<EvaluationSource> sources{{"b", {shards.files[2], shards.files[0]}}, {"a", {shards.files[1]}}};
    for (const std::int64_t world_size : {1, 2, 3}) {
        std::vector<Origin> together;
        std::vector<std::int64_t> sequences(2);
        for (std::int64_t rank = 0; rank < world_size; ++rank) {
            EvaluationSettings settings = settings_of(4);
            settings.rank = rank;
            settings.world_size = world_size;
            EvaluationBatches batches(sources, settings);
            CHECK(batches.source_names() == std::vector<std::string>{"b", "a"});
            while (const std::optional<MicroBatch> batch = batches.next()) {
                for (const Origin& origin : origins_of(*batch)) together.push_back(origin);
                std::int64_t in_parts = 0, masked = 0;
                for (const SourcePart& part : batch->source_parts) {
                    sequences.at(part.source) += part.sequences;
                    in_parts += part.sequences;
                    masked += part.masked;
                }
                CHECK(in_parts == batch->sequences());
                CHECK(masked == batch->masked());
            }
        }
        std::vector<Origin> expected = first_rows({10, 0, 17});
        for (std::int64_t row = 0; row < 3; ++row) expected.emplace_back(1, row);
        CHECK(together == expected);
        CHECK(sequences == std::vector<std::int64_t>{27, 3});
    }
}

TEST_CASE("evaluation refuses what training refuses") {
    const SampleShards shards({10, 4});
    CHECK_THROWS_AS(EvaluationBatches(one_source({}), settings_of(4)), DataError);
    EvaluationSettings settings = settings_of(4);
    settings.format = sample_format(8);
    CHECK_THROWS_AS(EvaluationBatches(one_source(shards.files), settings), DataError);
    shards.spoil(1, 4, 2);
    EvaluationBatches batches(one_source(shards.files), settings_of(4));
    CHECK(batches.next());
    CHECK(batches.next());
    CHECK_THROWS_AS(batches.next(), DataError);
}
