// The client of object stores against moto's S3 server, through a proxy that injects faults.

#include "storage/object_store.h"
#include "core/error.h"
#include "core/files/files.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/object_server.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// One server for all tests of this file; each uses a folder of its own.
ObjectServer& server() {
    static ObjectServer one;
    return one;
}

std::string example_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>((i * 31 + i / 251) % 253);
    return bytes;
}

ObjectStore store_of(const std::string& folder, double give_up_seconds = 60, std::uint64_t part_bytes = 6U << 20U) {
    return ObjectStore(parse_object_url("s3://bucket/" + folder, "a test"), credentials_by(server().variables()),
                       {.stall_seconds = 1, .give_up_seconds = give_up_seconds, .warn = [](const std::string&) {}}, part_bytes);
}

}  // namespace

TEST_CASE("what is written to a store is read, listed and removed") {
    NEEDS_OBJECT_SERVER(server());
    ObjectStore store = store_of("small things");
    store.write("a b+c", "first");
    store.write("inner/empty", "");
    CHECK(store.read("a b+c") == "first");
    CHECK(store.read("inner/empty") == "");
    CHECK(store.read("missing") == std::nullopt);
    std::string names;
    for (const ListedObject& object : store.list()) names += object.name + "=" + std::to_string(object.bytes) + ";";
    CHECK(names == "a b+c=5;inner/empty=0;");
    store.remove("a b+c");
    store.remove("a b+c");
    CHECK(store.list("a").empty());
}

TEST_CASE("a list of several pages is complete") {
    NEEDS_OBJECT_SERVER(server());
    ObjectStore store = store_of("many");
    for (int i = 0; i < 12; ++i) store.write(std::to_string(i), "");
    CHECK(store.list().size() == 12);
}

TEST_CASE("a file larger than a part is uploaded in parts and downloaded whole") {
    NEEDS_OBJECT_SERVER(server());
    const TemporaryFolder folder;
    const std::string bytes = example_bytes(13'000'000);
    write_text(folder / "file", bytes);
    ObjectStore store = store_of("parts");
    store.upload("file", folder / "file");
    CHECK(server().count("partNumber=3") == 1);
    store.download("file", folder / "copy", bytes.size());
    CHECK((read_text(folder / "copy") == bytes));
}

TEST_CASE("an interrupted download continues at the byte where it stopped") {
    NEEDS_OBJECT_SERVER(server());
    const TemporaryFolder folder;
    const std::string bytes = example_bytes(400'000);
    ObjectStore store = store_of("cut");
    store.write("file", bytes);
    server().set_faults(R"([{"fault": "cut", "contains": "cut/file", "method": "GET", "times": 1}])");
    store.download("file", folder / "copy", bytes.size());
    CHECK((read_text(folder / "copy") == bytes));
    CHECK(server().count("/cut/file bytes=200000- ") == 1);

    std::filesystem::resize_file(folder / "copy", 1000);  // of an earlier process
    store.download("file", folder / "copy", bytes.size());
    CHECK((read_text(folder / "copy") == bytes));
    CHECK(server().count("/cut/file bytes=1000- ") == 1);
}

TEST_CASE("answers of 503, slow and stalled connections are repeated until the object is there", "[system]") {
    NEEDS_OBJECT_SERVER(server());
    const TemporaryFolder folder;
    const std::string bytes = example_bytes(100'000);
    ObjectStore store = store_of("faults");
    server().set_faults(R"([{"fault": "503", "contains": "faults/", "every": 2, "times": 4},
                            {"fault": "slow", "contains": "faults/", "method": "GET", "times": 1},
                            {"fault": "stall", "contains": "faults/", "method": "GET", "times": 1}])");
    store.write("file", bytes);
    store.download("file", folder / "copy", bytes.size());
    store.download("file", folder / "again", bytes.size());
    CHECK((read_text(folder / "copy") == bytes));
    CHECK((read_text(folder / "again") == bytes));
    CHECK(server().count(" 503") >= 1);
    CHECK(server().count(" slow") == 1);
    CHECK(server().count(" stall") == 1);
}

TEST_CASE("a store that never answers ends in an error that names the object and the reason") {
    NEEDS_OBJECT_SERVER(server());
    ObjectStore store = store_of("down", 0.5);
    server().set_faults(R"([{"fault": "503", "contains": "down/"}])");
    try {
        store.read("file");
        FAIL("no error");
    } catch (const DistributedError& error) {
        CHECK_THAT(error.what(),
                   Catch::Contains("s3://bucket/down/file") && Catch::Contains("503, SlowDown: Reduce your request rate."));
    }
}

TEST_CASE("an object of another size, a missing one and a missing bucket are refused with their names") {
    NEEDS_OBJECT_SERVER(server());
    const TemporaryFolder folder;
    ObjectStore store = store_of("sizes");
    store.write("file", "12345");
    CHECK_THROWS_WITH(store.download("file", folder / "long", 6),
                      Catch::Contains("s3://bucket/sizes/file: has 5 bytes, expected 6"));
    CHECK_THROWS_WITH(store.download("file", folder / "short", 4), Catch::Contains("has more than 4 bytes, expected 4"));
    CHECK_THROWS_WITH(store.download("none", folder / "none", 4),
                      Catch::Contains("s3://bucket/sizes/none: GET failed: status 404, NoSuchKey"));
    ObjectStore other(parse_object_url("s3://other/x", "a test"), credentials_by(server().variables()));
    CHECK_THROWS_WITH(other.list(), Catch::Contains("NoSuchBucket"));
}

TEST_CASE("a transfer ends soon after a stop is requested") {
    NEEDS_OBJECT_SERVER(server());
    const TemporaryFolder folder;
    ObjectStore store = store_of("stopped", 600);
    server().set_faults(R"([{"fault": "503", "contains": "stopped/"}])");
    std::stop_source stop;
    std::jthread stopper([&] {
        sleep_seconds(0.3);
        stop.request_stop();
    });
    CHECK_THROWS_WITH(store.download("file", folder / "copy", 10, stop.get_token()), Catch::Contains("was stopped"));
}

TEST_CASE("a request that the store redirects goes where the answer says, signed for that host") {
    NEEDS_OBJECT_SERVER(server());
    ObjectStore store = store_of("moved here");
    server().set_faults(R"([{"fault": "redirect", "contains": "moved%20here"}])");
    store.write("a file", "content");
    CHECK(store.read("a file") == "content");
    CHECK(store.list().size() == 1);
    CHECK(server().count(" redirect") == 3);
}

TEST_CASE("an HTTP server gets a file that is larger than a part by one PUT, also where the first one is cut") {
    NEEDS_OBJECT_SERVER(server());
    const TemporaryFolder folder;
    const std::string bytes = example_bytes(300'000);
    write_text(folder / "file", bytes);
    ObjectStore store(parse_object_url(server().endpoint() + "/bucket/by%20put", "a test"), credentials_by({}),
                      {.stall_seconds = 1, .warn = [](const std::string&) {}}, 1000);
    server().set_faults(R"([{"fault": "cut", "contains": "by%20put", "method": "PUT", "times": 1}])");
    store.upload("file", folder / "file");
    CHECK(store_of("by put").read("file") == bytes);
    CHECK(server().count("PUT /bucket/by%20put/file") == 2);
}

TEST_CASE("an HTTP server is read like a store") {
    NEEDS_OBJECT_SERVER(server());
    const TemporaryFolder folder;
    store_of("by http").write("file", "12345");
    ObjectStore store(parse_object_url(server().endpoint() + "/bucket/by%20http", "a test"), credentials_by({}));
    store.download("file", folder / "copy", 5);
    CHECK(read_text(folder / "copy") == "12345");
}
