// Which files of its folder the cache may count and delete.

#include "core/error.h"
#include "core/files/files.h"
#include "storage/object_cache.h"
#include "storage/shared_server.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t stored_size = 20'000;

/// An object of the shared server, with its name in the cache's folder.
struct Stored {
    CachedObject object;
    std::string content, file;
};

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Stored stored(const std::string& folder, char letter) {
    std::shared_ptr<ObjectStore> store(new ObjectStore(shared_store(folder, shared_server().variables())));
    const TemporaryFolder place;
    Stored made{{store, std::string(1, letter) + ".h5", stored_size, 0}, std::string(stored_size, letter), ""};
    write_text(place / "content", made.content);
    made.object.crc32 = crc32_of_file(place / "content");
    char digits[16];
    std::snprintf(digits, sizeof digits, "%08x", made.object.crc32);
    made.file = std::string(digits) + "_" + std::to_string(stored_size) + "_" + made.object.name;
    store->write(made.object.name, made.content);
    return made;
}

}  // namespace

TEST_CASE("a folder with files that the cache did not write is refused by name, and they stay") {
    const TemporaryFolder place;
    for (const std::string file : {"sample_training_000.h5", "vocab.txt"}) {
        const fs::path folder = place / file;
        fs::create_directories(folder);
        write_text(folder / file, "the user's");
        try {
            ObjectCache cache(folder, 1);
            FAIL("no error for " + file);
        } catch (const ConfigError& error) {
            CHECK_THAT(error.what(),
                       Catch::Contains(folder.string()) && Catch::Contains(file) && Catch::Contains("data.cache_folder"));
        }
        CHECK(names_in(folder) == std::vector<std::string>{file});
        CHECK(read_text(folder / file) == "the user's");
    }
}

TEST_CASE("names that only look like the cache's are the user's: a date, a folder, a link, another size") {
    const TemporaryFolder place;
    write_text(place / "target", "12345");
    const auto refused = [&](const std::string& name, const std::function<void(const fs::path&)>& make) {
        const fs::path folder = place / ("with_" + name);
        fs::create_directories(folder);
        make(folder);
        const auto before = names_in(folder);
        CHECK_THROWS_AS(ObjectCache(folder, 1), ConfigError);
        CHECK(names_in(folder) == before);
    };
    refused("date", [](const fs::path& folder) { write_text(folder / "20240101_12_training.h5", "of another size"); });
    refused("zeros", [](const fs::path& folder) { write_text(folder / "20240101_0005_training.h5", "12345"); });
    refused("folder", [](const fs::path& folder) { fs::create_directories(folder / "0a1b2c3d_5_x.h5"); });
    refused("link", [&](const fs::path& folder) { fs::create_symlink(place / "target", folder / "0a1b2c3d_5_x.h5"); });
    refused("partial", [](const fs::path& folder) { write_text(folder / "0a1b2c3d_5_x.h5.partial", "too long"); });
}

TEST_CASE("a folder that an earlier version filled goes on working: nothing in it is fetched again") {
    NEEDS_OBJECT_SERVER(shared_server());
    const TemporaryFolder place;
    const Stored one = stored("earlier", 'a'), two = stored("earlier", 'b');
    fs::create_directories(place / "cache");
    write_text(place / "cache" / one.file, one.content);
    write_text(place / "cache" / (two.file + ".partial"), two.content.substr(0, 100));
    ObjectCache cache(place / "cache", 2 * stored_size, 1);
    cache.add(one.object);
    cache.add(two.object);
    CHECK(cache.hold(0, std::vector<std::size_t>{0, 1}));
    CHECK(shared_server().count("GET /bucket/earlier/a.h5") == 0);
    CHECK(shared_server().count("GET /bucket/earlier/b.h5 bytes=100-") == 1);
}

TEST_CASE("files that came into the cache's folder later are neither counted nor deleted") {
    NEEDS_OBJECT_SERVER(shared_server());
    const TemporaryFolder place;
    const Stored one = stored("later", 'a'), two = stored("later", 'b');
    ObjectCache cache(place / "cache", stored_size, 1);
    const std::string users(3 * stored_size, 'u');
    write_text(place / "cache/of the user.h5", users);
    write_text(place / "cache/20240101_12_x.h5", users);
    cache.add(one.object);
    cache.add(two.object);
    CHECK(cache.hold(0, std::vector<std::size_t>{0}));
    CHECK(cache.hold(0, std::vector<std::size_t>{1}));  // evicts the other one
    CHECK_FALSE(fs::exists(place / "cache" / one.file));
    CHECK((read_text(place / "cache/of the user.h5") == users));
    CHECK((read_text(place / "cache/20240101_12_x.h5") == users));
}

TEST_CASE("a wait for one user's objects does not end another user's wait") {
    NEEDS_OBJECT_SERVER(shared_server());
    const TemporaryFolder place;
    const Stored one = stored("users", 'a'), two = stored("users", 'b');
    const Faults faults(R"([{"fault": "503", "method": "GET", "contains": "/users/a.h5"}])");
    ObjectCache cache(place / "cache", 0, 1);  // so that objects are fetched only while a user waits for them
    cache.add(one.object);
    cache.add(two.object);
    std::stop_source stop;
    bool held = false;
    std::jthread first([&] { held = cache.hold(1, std::vector<std::size_t>{0}, stop.get_token()); });
    while (shared_server().count("/users/a.h5 - 503") == 0) sleep_seconds(0.001);
    std::stop_source stopped;
    stopped.request_stop();
    cache.hold(2, std::vector<std::size_t>{1}, stopped.get_token());  // gives up at once
    shared_server().set_faults("[]");
    for (int i = 0; i < 5000 && !held; ++i) sleep_seconds(0.001);
    CHECK(held);
    stop.request_stop();
}
