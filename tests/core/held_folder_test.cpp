#include "core/files/held_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

TEST_CASE("a held folder is reachable after a rename, and reports that its path no longer leads to it") {
    const TemporaryFolder folder;
    fs::create_directory(folder / "run");
    const HeldFolder held(folder / "run");
    CHECK(held.lost() == "");
    fs::rename(folder / "run", folder / "moved");
    CHECK(held.lost() == "was renamed to " + (folder / "moved").string());
    fs::create_directory(folder / "run");
    CHECK(held.lost() == "was renamed to " + (folder / "moved").string() + ", and another folder now has its name");
    write_text(held.by_descriptor() / "file", "text");
    CHECK(read_text(folder / "moved/file") == "text");
    CHECK(name_now(held.by_descriptor() / "file") == fs::canonical(folder / "moved/file"));
    CHECK(name_now(folder / "run") == folder / "run");
    fs::remove(folder / "run");
    fs::rename(folder / "moved", folder / "run");
    CHECK(held.lost() == "");
    fs::remove_all(folder / "run");
    CHECK(held.lost() == "was deleted");
}

TEST_CASE("a folder that does not exist cannot be held") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(HeldFolder(folder / "none"), ConfigError);
}

TEST_CASE("a process writes its own files into the folder that it holds, and none into one that another process has locked") {
    const TemporaryFolder folder;
    for (const std::string name : {"own", "others"}) fs::create_directory(folder / name);
    {
        const HeldFolder held(folder / "own");
        write_own_files_in(held);
    }  // the registration outlives the HeldFolder
    fs::rename(folder / "own", folder / "moved");
    fs::create_directory(folder / "own");
    const auto place = own_place_of(folder / "own/exit.json");
    REQUIRE(place.has_value());
    write_text(*place, "text");
    CHECK(read_text(folder / "moved/exit.json") == "text");
    CHECK(own_place_of(folder / "others/exit.json") == folder / "others/exit.json");
    const int lock = ::open((folder / "others").c_str(), O_RDONLY | O_DIRECTORY);
    REQUIRE(::flock(lock, LOCK_EX | LOCK_NB) == 0);
    CHECK_FALSE(own_place_of(folder / "others/exit.json").has_value());
    ::close(lock);
}
