#include "parallel/together.h"

#include <atomic>
#include <chrono>
#include <filesystem>

#include <ATen/ATen.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using testing::run_ranks;

namespace {

/// Returns what each of three ranks throws from together(); "" for nothing.
std::vector<std::string> thrown_by_three(const std::function<void(std::int64_t rank)>& body) {
    std::vector<std::string> thrown(3);
    run_ranks(3, [&](World& world) {
        try {
            together(world, [&] { body(world.rank()); });
        } catch (const Error& error) {
            thrown[static_cast<std::size_t>(world.rank())] = concat(static_cast<int>(error.code()), " ", error.what());
        } catch (const std::exception& error) { thrown[static_cast<std::size_t>(world.rank())] = concat("other ", error.what()); }
    });
    return thrown;
}

}  // namespace

TEST_CASE("if all ranks succeed, together() does nothing more") {
    CHECK(thrown_by_three([](std::int64_t) {}) == std::vector<std::string>{"", "", ""});
}

TEST_CASE("an error on one rank is thrown on all ranks, with its code, kind and rank") {
    const auto thrown = thrown_by_three([](std::int64_t rank) {
        if (rank == 1) throw DataError("wiki_0007.h5: is damaged, error: row 3");
    });
    CHECK(thrown[1] == "3 data error: wiki_0007.h5: is damaged, error: row 3");
    CHECK(thrown[0] == "3 data error: rank 1: wiki_0007.h5: is damaged, error: row 3");
    CHECK(thrown[2] == thrown[0]);
}

TEST_CASE("of several errors the lowest rank's is thrown on all ranks, also on other ranks that failed") {
    const auto thrown = thrown_by_three([](std::int64_t rank) {
        if (rank == 2) throw ConfigError("too large");
        if (rank == 1) throw CheckpointError("disk full");
    });
    CHECK(thrown == std::vector<std::string>{"4 checkpoint error: rank 1: disk full", "4 checkpoint error: disk full",
                                             "4 checkpoint error: rank 1: disk full"});
}

TEST_CASE("an exception that is not an Error is an internal error on the other ranks") {
    const auto thrown = thrown_by_three([](std::int64_t rank) {
        if (rank == 0) throw std::logic_error("broken rule");
    });
    CHECK(thrown[0] == "other broken rule");
    CHECK(thrown[1] == "70 internal error: rank 0: broken rule");
}

TEST_CASE("a path that the system refuses on one rank is exit 3 on all ranks, and not an internal error") {
    const auto thrown = thrown_by_three([](std::int64_t rank) {
        if (rank == 0) std::filesystem::rename("/nowhere/a", "/nowhere/b");
    });
    CHECK(thrown[1] == "3 data error: rank 0: /nowhere/a: No such file or directory");
    CHECK(thrown[2] == thrown[1]);
}

TEST_CASE("memory that runs out on one rank is exit 2 on all ranks, and not an internal error") {
    const auto thrown = thrown_by_three([](std::int64_t rank) {
        if (rank == 0) at::empty({std::int64_t{1} << 60}, at::kByte);
    });
    CHECK(thrown[0] == "other std::bad_alloc");
    CHECK(thrown[1].find("2 config error: rank 0: out of memory; use a smaller batch") == 0);
    CHECK(thrown[2] == thrown[1]);
}

TEST_CASE("the other ranks wait until rank 0's work has ended, and answer its signs of life meanwhile") {
    std::atomic<bool> is_done = false;
    std::atomic<int> waited = 0;
    run_ranks(3, [&](World& world) {
        run_at_first(world, std::chrono::seconds(0), [&](const std::function<void()>& sign_of_life) {
            for (int i = 0; i < 5; ++i) sign_of_life();  // each returns when all ranks have answered
            is_done = true;
        });
        if (is_done) ++waited;
    });
    CHECK(waited == 3);
}

TEST_CASE("rank 0 ends its work also where another rank is lost meanwhile, and then throws") {
    bool is_done = false, has_thrown = false;
    CHECK_THROWS_AS(run_ranks(2,
                              [&](World& world) {
                                  if (world.rank() == 1) throw DataError("lost");
                                  try {
                                      run_at_first(world, std::chrono::seconds(0),
                                                   [&](const std::function<void()>& sign_of_life) {
                                                       for (int i = 0; i < 3; ++i) sign_of_life();
                                                       is_done = true;
                                                   });
                                  } catch (const DistributedError&) {
                                      has_thrown = true;
                                      throw;
                                  }
                              }),
                    Error);
    CHECK(is_done);
    CHECK(has_thrown);
}
