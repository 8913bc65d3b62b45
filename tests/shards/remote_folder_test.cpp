// Processes that copy a store's folder of shards at the same time.

#include <array>
#include <memory>

#include <fcntl.h>

#include "core/files/files.h"
#include "shards/remote_folder.h"
#include "storage/curl_library.h"
#include "support/catch.h"
#include "support/process.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr int processes = 6;

/// A folder of shards that an HTTP server offers. The shards are no h5 files, as copying does not open them.
class ServedShards {
public:
    ServedShards() {
        Manifest manifest;
        manifest.vocabulary.size = 5;
        manifest.vocabulary.file = "vocab.txt";
        fs::create_directories(folder_ / "shards");
        write_text(folder_ / "shards/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
        for (const std::string name : {"sample_test_0.h5", "sample_training_0.h5", "sample_training_1.h5"}) {
            const fs::path file = folder_ / "shards" / name;
            write_text(file, std::string(20'000, name[name.size() - 4]));
            manifest.shards.push_back({name, 10, 10, 0, static_cast<std::int64_t>(fs::file_size(file)), crc32_of_file(file)});
        }
        write_manifest(folder_ / "shards", manifest);
        ::setenv("no_proxy", "127.0.0.1", 1);
        server_ = std::make_unique<Process>("sh -c \"exec python3 -u -m http.server 0 --bind 127.0.0.1 --directory " +
                                            folder_.path().string() + " > " + (folder_ / "server").string() + "\"");
        const std::string before = "port ";
        wait_until(*server_, [&] { return read_text(folder_ / "server").find(before) != std::string::npos; });
        const std::string line = read_text(folder_ / "server").substr(read_text(folder_ / "server").find(before) + before.size());
        url_ = "http://127.0.0.1:" + line.substr(0, line.find(' ')) + "/shards";
    }
    const std::string& url() const { return url_; }

private:
    TemporaryFolder folder_;
    std::unique_ptr<Process> server_;
    std::string url_;
};

/// What a rank does with the shards of a store before its first step. @returns what is wrong
std::string start(const std::string& url, const fs::path& cache) {
    try {
        const fs::path copies = local_shard_folder(url, cache);
        if (!read_manifest(copies)) return "no manifest";
        if (copied_shards(url, ShardKind::held_out, cache).size() != 1) return "no held-out shard";
        ObjectCache shards(cache / "shards", 1'000'000, 2);
        const auto files = find_shards_anywhere(url, ShardKind::training, cache);
        for (const RemoteShardRecord& shard : open_remote_shards(files, shards, cache))
            if (!shards.hold(0, std::vector{shard.object}) || !shards.find(shard.object)) return "no training shard";
        return "";
    } catch (const std::exception& error) { return error.what(); }
}

/// Starts processes together on an empty cache. @returns what failed in any of them
std::string start_together(const std::string& url, const fs::path& place) {
    std::array<int, 2> gate{};
    if (::pipe2(gate.data(), O_CLOEXEC) != 0) return "no pipe";
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(gate[1]);
            char opened = 0;
            while (::read(gate[0], &opened, 1) > 0) {}  // until all have been started
            const std::string failure = start(url, place / "cache");
            if (!failure.empty()) write_text(place / ("failure_" + std::to_string(i)), failure);
            ::_exit(failure.empty() ? 0 : 1);
        }
        children.push_back(child);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    std::string failures;
    for (int i = 0; i < processes; ++i) {
        int status = 0;
        ::waitpid(children[static_cast<std::size_t>(i)], &status, 0);
        if (status != 0)
            failures += "status " + std::to_string(status) + ": " + read_text(place / ("failure_" + std::to_string(i))) + "\n";
    }
    return failures;
}

void start_often(int starts) {
    curl_library();  // once, instead of in each process
    const ServedShards shards;
    int failed = 0;
    for (int i = 0; i < starts; ++i) {
        const TemporaryFolder place;
        const std::string failures = start_together(shards.url(), place.path());
        INFO("start " << i);
        CHECK(failures == "");
        if (!failures.empty()) ++failed;
    }
    CHECK(failed == 0);
}

}  // namespace

TEST_CASE("six processes that start together on an empty cache all get its files") { start_often(2); }

TEST_CASE("1,000 starts of six processes on an empty cache have no failure", "[.long]") { start_often(1000); }

TEST_CASE("a manifest that changed in the store replaces the copy") {
    const ServedShards shards;
    const TemporaryFolder place;
    const fs::path copies = local_shard_folder(shards.url(), place.path());
    write_text(copies / manifest_name, "an older one");
    CHECK(local_shard_folder(shards.url(), place.path()) == copies);
    CHECK(read_manifest(copies).has_value());
}
