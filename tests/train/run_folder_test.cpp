#include "train/records/run_folder.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

TEST_CASE("paths to write to lead into the held folder under any name, and messages show the name that it has now") {
    const TemporaryFolder folder;
    const fs::path run = folder / "a & b\\1", moved = folder / "moved";
    const RunFolder held(run);
    const std::string message = held.places().metrics().string() + ": full, " + held.places().lock().string();
    CHECK(held.with_names(message) == concat(run.string(), "/metrics.jsonl: full, ", run.string(), "/.lock"));
    fs::rename(run, moved);
    fs::create_directory(run);
    write_text(held.places().metrics(), "line");
    CHECK(read_text(moved / "metrics.jsonl") == "line");
    CHECK(fs::is_empty(run));
    CHECK(held.with_names(message) == concat(moved.string(), "/metrics.jsonl: full, ", moved.string(), "/.lock"));
    CHECK(held.with_names("/proc/self/fd/12") == moved.string());
    CHECK(held.with_names("no path") == "no path");
    REQUIRE(held.lost().has_value());
    CHECK_FALSE(held.lost()->is_taken);
    CHECK_THROWS_WITH(held.require(),
                      Catch::Contains("was renamed to " + moved.string() + ", and another folder now has its name"));
}

TEST_CASE("a rank joins the folder that was taken, and no other one of that name") {
    const TemporaryFolder folder;
    const RunFolder taken(folder / "run");
    RunFolder same(folder / "run", RunFolder::Role::joins), other(folder / "other", RunFolder::Role::joins);
    CHECK(same.has(taken.mark()));
    CHECK_FALSE(other.has(taken.mark()));
    CHECK_FALSE(same.lost().has_value());
    fs::rename(folder / "run", folder / "moved");
    CHECK(same.lost().has_value());
    CHECK_FALSE(other.lost().has_value());  // it holds none
}
