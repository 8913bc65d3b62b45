// Batches from shards of an object store, through a cache that cannot hold all of them.

#include "batches/batch_loader.h"
#include "batches/sample_shards.h"
#include "core/files.h"
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
    ObjectStore store(parse_object_url("s3://bucket/shards", "a test"), lookup(server.variables()));
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
    settings.global_batch_sequences = settings.micro_batch_size = 4;
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
    settings.global_batch_sequences = settings.micro_batch_size = 4;
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
