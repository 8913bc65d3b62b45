// The bounded cache of objects: fetching ahead, verifying, evicting, sharing.

#include <numeric>

#include "core/error.h"
#include "core/files/files.h"
#include "storage/object_cache.h"
#include "support/catch.h"
#include "support/object_server.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::size_t example_size = 20'000;

/// A server whose bucket has example objects 0.h5, 1.h5, ... in a folder.
struct Example {
    ObjectServer server;
    TemporaryFolder folder;
    std::shared_ptr<ObjectStore> store;
    std::vector<CachedObject> objects;

    explicit Example(int count) {
        if (!server.runs()) return;
        store =
            std::make_shared<ObjectStore>(parse_object_url("s3://bucket/shards", "a test"), credentials_by(server.variables()),
                                          StorageSettings{1, 5, [](const std::string&) {}});
        for (int i = 0; i < count; ++i) {
            const std::string name = std::to_string(i) + ".h5", content(example_size, static_cast<char>('a' + i));
            store->write(name, content);
            write_text(folder / "content", content);
            objects.push_back({store, name, example_size, crc32_of_file(folder / "content")});
        }
    }
    std::filesystem::path place() const { return folder / "cache"; }
    std::size_t gets() const { return server.count("GET /bucket/shards/"); }
};

std::vector<ObjectCache::Use> in_order(const std::vector<std::size_t>& objects) {
    std::vector<ObjectCache::Use> uses;
    for (const std::size_t object : objects) uses.push_back({object, static_cast<double>(uses.size())});
    return uses;
}

std::uint64_t bytes_in(const std::filesystem::path& folder) {
    std::uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder))
        if (file.path().filename() != cache_marker) bytes += file.file_size();
    return bytes;
}

template <class Condition>
bool comes_true(const Condition& holds) {
    for (int i = 0; i < 2000 && !holds(); ++i) sleep_seconds(0.01);
    return holds();
}

}  // namespace

TEST_CASE("objects are fetched ahead in the order of their use, as many as fit, and no more") {
    Example example(6);
    NEEDS_OBJECT_SERVER(example.server);
    ObjectCache cache(example.place(), 3 * example_size + 10, 2);
    for (const CachedObject& object : example.objects) cache.add(object);
    cache.set_uses(0, in_order({4, 2, 0, 1, 3, 5}));
    CHECK(comes_true([&] { return cache.find(4) && cache.find(2) && cache.find(0); }));
    sleep_seconds(0.2);
    CHECK(cache.fetched() == 3);
    CHECK(bytes_in(example.place()) == 3 * example_size);
    CHECK(read_text(*cache.find(4)) == std::string(example_size, 'e'));
}

TEST_CASE("what is needed last is evicted for what is needed soon, and fetched again later") {
    Example example(4);
    NEEDS_OBJECT_SERVER(example.server);
    ObjectCache cache(example.place(), 2 * example_size, 2);
    for (const CachedObject& object : example.objects) cache.add(object);
    for (int round = 0; round < 2; ++round) {
        for (std::size_t first = 0; first < 4; ++first) {
            std::vector<std::size_t> order{0, 1, 2, 3};
            std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first), order.end());
            cache.set_uses(0, in_order(order));
            REQUIRE(cache.hold(0, std::vector{first}));
            CHECK(read_text(*cache.find(first)) == std::string(example_size, static_cast<char>('a' + first)));
            CHECK(bytes_in(example.place()) <= 2 * example_size);
        }
    }
    CHECK(cache.fetched() >= 7);
}

TEST_CASE("an object that is held is not evicted") {
    Example example(3);
    NEEDS_OBJECT_SERVER(example.server);
    ObjectCache cache(example.place(), 2 * example_size, 2);
    for (const CachedObject& object : example.objects) cache.add(object);
    cache.hold(0, std::vector<std::size_t>{0});
    ObjectCache of_other_process(example.place(), 2 * example_size, 2);
    for (const CachedObject& object : example.objects) of_other_process.add(object);
    of_other_process.set_uses(0, in_order({1, 2}));
    of_other_process.hold(0, std::vector<std::size_t>{1});
    sleep_seconds(0.2);
    CHECK(cache.find(0).has_value());
}

TEST_CASE("processes that share the folder fetch an object once") {
    Example example(5);
    NEEDS_OBJECT_SERVER(example.server);
    std::vector<std::size_t> all(5);
    std::iota(all.begin(), all.end(), std::size_t{0});
    {
        ObjectCache one(example.place(), 1'000'000, 2), two(example.place(), 1'000'000, 2);
        for (ObjectCache* cache : {&one, &two}) {
            for (const CachedObject& object : example.objects) cache->add(object);
            cache->set_uses(0, in_order(all));
        }
        CHECK(one.hold(0, all));
        CHECK(two.hold(0, all));
    }
    CHECK(example.gets() == 5);
    ObjectCache later(example.place(), 1'000'000);
    for (const CachedObject& object : example.objects) later.add(object);
    CHECK(later.hold(0, all));
    CHECK(example.gets() == 5);
}

TEST_CASE("wrong bytes are fetched again, and after three downloads are an error that names the object") {
    Example example(2);
    NEEDS_OBJECT_SERVER(example.server);
    example.server.set_faults(R"([{"fault": "wrong", "method": "GET", "contains": "/0.h5", "times": 2},
                                  {"fault": "wrong", "method": "GET", "contains": "/1.h5"}])");
    ObjectCache cache(example.place(), 1'000'000);
    for (const CachedObject& object : example.objects) cache.add(object);
    CHECK(cache.hold(0, std::vector<std::size_t>{0}));
    CHECK(read_text(*cache.find(0)) == std::string(example_size, 'a'));
    CHECK_THROWS_WITH(cache.hold(0, std::vector<std::size_t>{1}),
                      Catch::Contains("s3://bucket/shards/1.h5: the bytes are wrong in 3 downloads"));
}

TEST_CASE("a copy that was damaged on the disk is fetched again") {
    Example example(1);
    NEEDS_OBJECT_SERVER(example.server);
    const std::vector<std::size_t> first{0};
    {
        ObjectCache cache(example.place(), 1'000'000);
        cache.add(example.objects[0]);
        cache.hold(0, first);
        write_text(*cache.find(0), std::string(example_size, 'x'));
    }
    ObjectCache cache(example.place(), 1'000'000);
    cache.add(example.objects[0]);
    CHECK(cache.hold(0, first));
    CHECK(read_text(*cache.find(0)) == std::string(example_size, 'a'));
}

TEST_CASE("a wait for objects ends when a stop is requested") {
    Example example(1);
    NEEDS_OBJECT_SERVER(example.server);
    example.server.set_faults(R"([{"fault": "503"}])");
    ObjectCache cache(example.place(), 1'000'000);
    cache.add(example.objects[0]);
    std::stop_source stop;
    std::jthread stopper([&] {
        sleep_seconds(0.1);
        stop.request_stop();
    });
    CHECK_FALSE(cache.hold(0, std::vector<std::size_t>{0}, stop.get_token()));
}
