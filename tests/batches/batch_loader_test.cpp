#include "batches/batch_loader.h"

#include "batches/refusal.h"
#include "batches/sample_shards.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

BatchLoaderSettings small_settings() {
    BatchLoaderSettings settings;
    settings.seed = 9;
    settings.batch_sizes = 12;
    settings.micro_batch_size = 5;
    settings.format = sample_format();
    settings.window_rows = 30;
    return settings;
}

/// Returns all values that a step trains on.
std::vector<std::int64_t> content_of(const GlobalBatch& batch) {
    std::vector<std::int64_t> content{batch.sequences, batch.tokens, batch.masked};
    const auto append = [&](const at::Tensor& tensor) {
        const auto* data = tensor.const_data_ptr<std::int64_t>();
        content.insert(content.end(), data, data + tensor.numel());
    };
    for (const MicroBatch& part : batch.micro_batches) {
        content.insert(content.end(), part.layout.samples_B.begin(), part.layout.samples_B.end());
        content.insert(content.end(), part.layout.starts_B1.begin(), part.layout.starts_B1.end());
        for (const at::Tensor& tensor : {part.input_ids_T, part.token_type_ids_T, part.position_ids_T, part.masked_rows_M,
                                         part.masked_labels_M, part.next_sentence_labels_B})
            append(tensor);
    }
    return content;
}

}  // namespace

TEST_CASE("a new micro-batch size takes effect at the present step, with the same samples") {
    const SampleShards shards({10, 20, 5, 12, 3});
    BatchLoader loader(shards.files, small_settings()), as_before(shards.files, small_settings());
    const auto numbers = [](const GlobalBatch& batch) {
        std::vector<std::int64_t> all;
        for (const MicroBatch& part : batch.micro_batches)
            all.insert(all.end(), part.layout.samples_B.begin(), part.layout.samples_B.end());
        return all;
    };
    for (const std::int64_t size : {12, 1, 7}) {
        loader.set_micro_batch_size(size);
        for (int step = 0; step < 4; ++step) {
            const std::int64_t position = loader.position();
            const GlobalBatch batch = loader.next(), other = as_before.next();
            CAPTURE(size, position);
            CHECK(numbers(batch) == numbers(other));
            CHECK(batch.micro_batches.size() == static_cast<std::size_t>((12 + size - 1) / size));
            CHECK(batch.micro_batches.front().sequences() == size);
        }
    }
}

TEST_CASE("seeking a step gives the same batches as reading from the start") {
    const SampleShards shards({10, 20, 5, 12, 3});
    BatchLoader loader(shards.files, small_settings());
    std::vector<std::vector<std::int64_t>> steps;
    for (std::int64_t step = 1; step <= 15; ++step) {
        REQUIRE(loader.position() == step);
        const GlobalBatch batch = loader.next();
        CHECK(batch.data_wait_seconds >= 0);
        CHECK(batch.data_wait_seconds < 60);
        steps.push_back(content_of(batch));
    }
    for (const std::int64_t step : {15, 1, 7, 8, 2, 14}) {
        loader.seek(step);
        CHECK(loader.position() == step);
        CHECK(content_of(loader.next()) == steps[static_cast<std::size_t>(step - 1)]);
        BatchLoader fresh(shards.files, small_settings());
        CHECK(fresh.fingerprint() == loader.fingerprint());
        fresh.seek(step);
        for (std::int64_t s = step; s <= 15; ++s) CHECK(content_of(fresh.next()) == steps[static_cast<std::size_t>(s - 1)]);
    }
    CHECK(loader.rows_per_epoch() == 50);
}

TEST_CASE("seeking a very late step takes no longer than an early one") {
    const SampleShards shards({10, 20, 5});
    BatchLoader loader(shards.files, small_settings());
    loader.seek(1'000'000'000'000);
    CHECK(loader.next().micro_batches.front().layout.samples_B.front() == 12 * 999'999'999'999);
    CHECK(loader.position() == 1'000'000'000'001);
}

TEST_CASE("a loader may be destroyed at any moment") {
    const SampleShards shards({10, 20, 5, 12, 3});
    for (int steps = 0; steps < 12; ++steps) {
        BatchLoader loader(shards.files, small_settings());
        for (int step = 0; step < steps; ++step) loader.next();
        if (steps % 3 == 0) loader.seek(100 + steps);
    }
}

TEST_CASE("a bad row makes the step that holds it fail with file and row, but not earlier steps") {
    const SampleShards shards({12, 12, 12, 12});
    BatchLoaderSettings settings = small_settings();
    settings.window_rows = 24;  // two windows of two bands per epoch: steps 1 and 2 read two shards, 3 and 4 the others
    std::size_t late_shard = 0;
    {
        BatchLoader loader(shards.files, settings);
        loader.seek(3);
        late_shard = static_cast<std::size_t>(origins_of(loader.next().micro_batches.front()).front().first);
    }
    shards.spoil(late_shard, 12, 4);
    BatchLoader loader(shards.files, settings);
    CHECK(loader.next().sequences == 12);
    CHECK(loader.next().sequences == 12);
    const std::string name = shards.files[late_shard].filename().string();
    for (int attempt = 0; attempt < 2; ++attempt) {
        CHECK(missing_in(refusal_of<DataError>([&] { loader.next(); }), name + ": input_ids[4, 3] is 2000").empty());
        CHECK(loader.position() == 3);
    }
}

TEST_CASE("data that cannot be trained on is refused when the loader is constructed") {
    const SampleShards shards({10});
    BatchLoaderSettings settings = small_settings();
    settings.format = sample_format(2 * sample_length);
    CHECK_THROWS_AS(BatchLoader(shards.files, settings), DataError);
    settings = small_settings();
    settings.format.max_position_embeddings = sample_length - 1;
    CHECK_THROWS_AS(BatchLoader(shards.files, settings), ConfigError);
    CHECK_THROWS_AS(BatchLoader({}, small_settings()), DataError);
}
