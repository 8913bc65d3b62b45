// Batches from shards of an object store, through a cache that cannot hold all of them.

#include "batches/batch_loader.h"
#include "batches/refusal.h"
#include "batches/sample_shards.h"
#include "core/error.h"
#include "core/files/files.h"
#include "shards/remote_folder.h"
#include "support/catch.h"
#include "support/object_server.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Copies shards into the bucket, with their manifest. @returns their size
std::uint64_t put_into_bucket(const ObjectServer& server, const SampleShards& shards, std::int64_t rows) {
    ObjectStore store(parse_object_url("s3://bucket/shards", "a test"), credentials_by(server.variables()));
    Manifest manifest;
    manifest.vocabulary.size = sample_vocabulary;
    std::uint64_t bytes = 0;
    for (const fs::path& file : shards.files) {
        store.upload(file.filename().string(), file);
        const auto size = static_cast<std::int64_t>(fs::file_size(file));
        manifest.shards.push_back({file.filename().string(), rows, rows, 0, size, crc32_of_file(file)});
        bytes += static_cast<std::uint64_t>(size);
    }
    write_manifest(shards.folder.path(), manifest);
    store.upload(manifest_name, shards.folder / manifest_name);
    return bytes;
}

}  // namespace

TEST_CASE("with a cache smaller than the data, batches are the same as from the disk, and shards are fetched again") {
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const SampleShards shards(std::vector<std::int64_t>(8, 12));
    const std::uint64_t bytes = put_into_bucket(server, shards, 12);
    BatchLoaderSettings settings;
    settings.seed = 9;
    settings.batch_sizes = settings.micro_batch_size = 4;
    settings.format = sample_format();
    settings.window_rows = 24;
    BatchLoader local(shards.files, settings);
    const TemporaryFolder cache;
    settings.cache_folder = cache.path();
    settings.cache = std::make_shared<ObjectCache>(cache / "shards", bytes * 5 / 8);  // a window takes four of the eight
    const fs::path url = server.endpoint() + "/bucket/shards";
    BatchLoader remote(find_shards_anywhere(url, ShardKind::training, cache.path()), settings);
    constexpr int steps = 3 * 24;  // three epochs
    for (int step = 0; step < steps; ++step)
        CHECK(origins_of(remote.next().micro_batches.front()) == origins_of(local.next().micro_batches.front()));
    CHECK(settings.cache->fetched() > shards.files.size());
}

TEST_CASE("a cache too small for a window of samples is refused before a shard is fetched or evicted") {
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const SampleShards shards(std::vector<std::int64_t>(8, 12));
    const std::uint64_t bytes = put_into_bucket(server, shards, 12);
    BatchLoaderSettings settings;
    settings.batch_sizes = settings.micro_batch_size = 4;
    settings.format = sample_format();
    settings.window_rows = 24;
    const TemporaryFolder cache;
    fs::create_directories(cache / "shards");
    const fs::path of_another_run = cache / "shards/0a1b2c3d_100000_sample_training_000.h5";
    write_text(of_another_run, std::string(100'000, 'a'));
    settings.cache_folder = cache.path();
    settings.cache = std::make_shared<ObjectCache>(cache / "shards", bytes / 4);  // a window takes four of the eight
    const fs::path url = server.endpoint() + "/bucket/shards";
    const std::vector<fs::path> files = find_shards_anywhere(url, ShardKind::training, cache.path());
    CHECK_THROWS_WITH(BatchLoader(files, settings), Catch::Contains("data.cache_gib: the cache may hold"));
    CHECK(server.count("GET /bucket/shards/" + shards.files.front().filename().string()) == 0);
    CHECK(fs::exists(of_another_run));
}

TEST_CASE("shards of another shape than the largest of their folder in a store are refused when they are fetched") {
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const std::string kind = GENERATE(as<std::string>(), "longer rows", "more masked positions", "no labels");
    SampleShards shards({12});
    if (kind == "longer rows") shards.add(12, 2 * sample_length);
    if (kind == "more masked positions") shards.add(12, sample_length, sample_predictions + 2);
    if (kind == "no labels") {
        shards.files.push_back(shards.folder / "wiki_training_0001.h5");
        const ShardRows rows = empty_rows(12, sample_length, sample_predictions, /*has_labels=*/false);
        write_shard(
            shards.files.back(), {12, sample_length, sample_predictions, /*has_labels=*/false},
            [&](std::int64_t, std::int64_t) { return rows; }, 1);
    }
    const std::uint64_t bytes = put_into_bucket(server, shards, 12);
    const TemporaryFolder folder;
    const auto cache = std::make_shared<ObjectCache>(folder / "shards", bytes);
    const auto files = find_shards_anywhere(server.endpoint() + "/bucket/shards", ShardKind::training, folder.path());
    const std::vector<ShardFile> found = survey_remote_shards(files, sample_format(), cache, folder.path(), 0);
    const std::vector<std::size_t> both{found[0].remote->shard().object, found[1].remote->shard().object};
    REQUIRE(cache->hold(0, both));
    CHECK(found[0].opened()->rows() == 12);
    const std::string refusal = refusal_of<DataError>([&] { found[1].opened(); });
    CHECK(missing_in(refusal, "wiki_training_0001.h5", "as the largest shard of its folder has", "do: keep shards").empty());
    if (kind == "longer rows") CHECK(missing_in(refusal, "rows of 32 tokens, expected rows of 16").empty());
    if (kind == "more masked positions")
        CHECK(missing_in(refusal, "up to 5 masked positions per row, expected at most 3").empty());
    if (kind == "no labels") CHECK(missing_in(refusal, "no next_sentence_labels", "data.objective").empty());
}
