// A store whose server, or another of its users, is stopped.
#include "parallel/answering_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/error.h"
#include "parallel/listening_socket.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/free_port.h"

using namespace bertpretrain;
using Bytes = std::vector<std::uint8_t>;

TEST_CASE("a store that accepts a connection and never answers is given up in time") {
    const auto port = static_cast<std::uint16_t>(testing::free_port());
    const ListeningSocket silent("127.0.0.1", port, false);
    const auto connect = [port]() -> c10::intrusive_ptr<c10d::Store> {
        c10d::TCPStoreOptions options;
        options.port = port;
        options.timeout = std::chrono::milliseconds(100);
        return c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    };
    CHECK_THROWS_WITH(AnsweringStore(connect, std::chrono::milliseconds(100)), Catch::Contains("has not answered"));
}

TEST_CASE("a store in a file that a stopped process has locked is given up in time") {
    const testing::TemporaryFolder folder;
    const std::string path = (folder / "store").string();
    AnsweringStore store([path] { return c10::make_intrusive<c10d::FileStore>(path, -1); }, std::chrono::milliseconds(100));
    const int locked = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(::flock(locked, LOCK_EX) == 0);
    CHECK_THROWS_WITH(store.set("key", Bytes{1}), Catch::Contains("has not answered"));
    ::close(locked);
}

TEST_CASE("a store that answers gives the same values and errors as without a time limit") {
    AnsweringStore store([] { return c10::make_intrusive<c10d::HashStore>(); }, std::chrono::seconds(20));
    store.set("address", Bytes{1, 2});
    CHECK(store.get("address") == Bytes{1, 2});
    CHECK(store.clone()->get("address") == Bytes{1, 2});
    CHECK(store.add("count", 3) == 3);
    CHECK(store.check({"count"}));
    CHECK(store.compareSet("address", Bytes{1, 2}, Bytes{3}) == Bytes{3});
    CHECK(store.getNumKeys() == 2);
    CHECK(store.deleteKey("count"));
    store.wait({"address"});
    CHECK_THROWS_AS(store.wait({"never"}, std::chrono::milliseconds(10)), c10::Error);
    store.setTimeout(std::chrono::milliseconds(10));
    CHECK_THROWS_AS(store.get("never"), c10::Error);
}
