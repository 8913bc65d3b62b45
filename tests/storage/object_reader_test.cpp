// Objects that are read as files: in blocks, ahead, and always in one version.

#include "storage/object_reader.h"
#include "core/error.h"
#include "shared_server.h"
#include "support/catch.h"
#include "support/file_server.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::size_t block = ObjectReader::block_bytes;

std::string varied_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    std::uint32_t state = 1;
    for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24U);
    return bytes;
}

std::string all_of(ObjectReader& reader, std::size_t at_once = 1'000'000) {
    std::string content, part(at_once, '\0');
    while (const std::size_t count = reader.read_at(content.size(), part.data(), part.size())) content.append(part, 0, count);
    return content;
}

/// Writes an object into the bucket, and lets the process find the bucket.
std::string stored(const std::string& key, const std::string& content) {
    for (const auto& [name, value] : shared_server().variables()) ::setenv(name.c_str(), value.c_str(), 1);
    shared_store("", shared_server().variables(), 20, std::uint64_t{64} << 20U).write(key, content);
    return "s3://bucket/" + key;
}

ObjectReader reader_of(const std::string& address, double give_up_seconds = 20) {
    return ObjectReader(parse_remote_address(address), quick_settings(give_up_seconds));
}

}  // namespace

TEST_CASE("an object has the same bytes from its beginning and at any offset") {
    NEEDS_OBJECT_SERVER(shared_server());
    const std::string bytes = varied_bytes(3 * block + 12'345), address = stored("reader/offsets", bytes);
    {
        ObjectReader reader = reader_of(address);
        CHECK((all_of(reader) == bytes));
        CHECK(reader.bytes() == bytes.size());
    }
    CHECK(shared_server().count("GET /bucket/reader/offsets ") == 5);  // 3 + 2, each once
    ObjectReader reader = reader_of(address);
    for (const std::size_t offset : {3 * block + 5, std::size_t{0}, block - 1, ObjectReader::first_block_bytes, 2 * block}) {
        std::string part(100, '\0');
        part.resize(reader.read_at(offset, part.data(), part.size()));
        CHECK_FALSE(part.empty());
        CHECK((part == bytes.substr(offset, part.size())));
        CHECK((reader.kept(offset).substr(0, part.size()) == part));
    }
    char none = 0;
    CHECK(reader.read_at(bytes.size(), &none, 1) == 0);
}

TEST_CASE("an object that is read in order is requested ahead, and only a few blocks of it are kept") {
    NEEDS_OBJECT_SERVER(shared_server());
    const std::string bytes = varied_bytes(7 * block), address = stored("reader/ahead", bytes);
    ObjectReader reader = reader_of(address);
    std::string part(1, '\0');
    for (std::size_t i = 0; i < 7; ++i) reader.read_at(i * block, part.data(), 1);
    CHECK(shared_server().count("/reader/ahead ") == 8);  // with its PUT
    CHECK(reader.kept(6 * block).size() == block);
    CHECK(reader.kept(0).empty());
}

TEST_CASE("an empty object and keys with strange slashes are read as they are named") {
    NEEDS_OBJECT_SERVER(shared_server());
    for (const std::string key : {"reader/empty", "/reader//odd name+#?", "reader/folder/"}) {
        const std::string content = key == "reader/empty" ? "" : "about " + key;
        ObjectReader reader = reader_of(stored(key, content));
        CHECK(all_of(reader) == content);
    }
}

TEST_CASE("failing, throttled and cut answers are repeated, and an interrupted part goes on where it stopped") {
    NEEDS_OBJECT_SERVER(shared_server());
    const std::string bytes = varied_bytes(2 * block), address = stored("reader/faults", bytes);
    const Faults faults(R"([{"fault": "cut", "contains": "reader/faults", "method": "GET", "times": 1},
                            {"fault": "cut", "contains": "reader/faults", "method": "GET", "every": 2},
                            {"fault": "503", "contains": "reader/faults", "every": 3},
                            {"fault": "reset", "contains": "reader/faults", "every": 5}])");
    ObjectReader reader = reader_of(address, 60);
    CHECK((all_of(reader) == bytes));
    CHECK(shared_server().count("/reader/faults bytes=0-1048575 cut") == 1);
    CHECK(shared_server().count("/reader/faults bytes=524288-1048575 ") >= 1);
}

TEST_CASE("an object that changes while it is read is refused, whether the store looks at If-Match or not") {
    NEEDS_OBJECT_SERVER(shared_server());
    const std::string address = stored("reader/changing", varied_bytes(2 * block));
    ObjectReader reader = reader_of(address);
    std::string part(1, '\0');
    CHECK(reader.read_at(0, part.data(), 1) == 1);
    stored("reader/changing", varied_bytes(2 * block - 1));
    CHECK_THROWS_MATCHES(reader.read_at(block, part.data(), 1), DataError,
                         Catch::Message("data error: s3://bucket/reader/changing: changed while it was read: it has another "
                                        "version (ETag) than before\n  do: start again when no program writes it"));
    ObjectReader again = reader_of(address);  // of the same process
    CHECK_THROWS_AS(again.read_at(0, part.data(), 1), DataError);

    const FileServer server;
    server.put("x", varied_bytes(block));
    ObjectReader other = reader_of(server.at("/files/x"));
    CHECK(other.read_at(0, part.data(), 1) == 1);
    server.put("x", varied_bytes(block + 1));
    CHECK_THROWS_AS(other.read_at(block - 1, part.data(), 1), DataError);
}

TEST_CASE("a missing object, refused access, a store that never answers and a server without ranges are told apart") {
    NEEDS_OBJECT_SERVER(shared_server());
    stored("reader/there", "x");
    CHECK_THROWS_MATCHES(
        reader_of("s3://bucket/reader/missing").bytes(), DataError, Catch::Predicate<DataError>([](const DataError& error) {
            return std::string(error.what()).find("s3://bucket/reader/missing: does not exist") != std::string::npos;
        }));
    {
        const Faults faults(R"([{"fault": "error", "status": 403, "code": "AccessDenied", "contains": "reader/secret"},
                                {"fault": "503", "contains": "reader/down"}])");
        CHECK_THROWS_AS(reader_of("s3://bucket/reader/secret").bytes(), ConfigError);
        CHECK_THROWS_WITH(reader_of("s3://bucket/reader/secret").bytes(),
                          Contains("s3://bucket/reader/secret") && Contains("AccessDenied"));
        CHECK_THROWS_AS(reader_of("s3://bucket/reader/down", 0.5).bytes(), DistributedError);
    }
    const FileServer server;
    server.put("small", "all of it");
    server.put("large", varied_bytes(2 * block));
    ObjectReader small = reader_of(server.at("/whole/small"));
    CHECK(all_of(small) == "all of it");
    std::string part(1, '\0');
    ObjectReader large = reader_of(server.at("/whole/large"));
    CHECK_THROWS_AS(large.read_at(0, part.data(), 1), ConfigError);
    CHECK_THROWS_WITH(reader_of(server.at("/whole/large")).read_at(0, part.data(), 1),
                      Contains(server.at("/whole/large") + ": the server sends the whole file") && Contains("curl"));
}

TEST_CASE("a redirected request goes on at another server, which never sees the token") {
    const FileServer server;
    server.put("o/n/x", "content");
    server.put("y", "moved");
    for (const auto& [name, value] : server.variables()) ::setenv(name.c_str(), value.c_str(), 1);
    ObjectReader of_hub = reader_of("hf://datasets/o/n/x");
    CHECK(all_of(of_hub) == "content");
    CHECK(server.count("first GET /datasets/o/n/resolve/main/x bytes=0-1048575 verysecret") == 1);
    CHECK(server.count("other GET /files/o/n/x bytes=0-1048575 -") == 1);
    CHECK(server.count("other ") == 1);
    ObjectReader near = reader_of(server.at("/near/y")), moved = reader_of(server.at("/moved/y"));
    CHECK(all_of(near) == "moved");
    CHECK(all_of(moved) == "moved");
    CHECK(server.count("verysecret") == 1);
    ::unsetenv("HF_ENDPOINT");
    ::unsetenv("HF_TOKEN");
}

TEST_CASE("a file whose size the server does not say is refused, and so is one that ends before its size") {
    const FileServer server;
    server.put("x", "0123456789");
    server.put("y", varied_bytes(2 * block));
    CHECK_THROWS_MATCHES(reader_of(server.at("/unsized/x")).bytes(), ConfigError,
                         Catch::Predicate<ConfigError>([](const ConfigError& error) {
                             return std::string(error.what()).find("does not say how large the file is") != std::string::npos;
                         }));
    ObjectReader half = reader_of(server.at("/half/y"));
    CHECK_THROWS_WITH(all_of(half), Contains("/half/y: ends at byte ") && Contains(", expected 16777216 bytes"));
}
