#include "core/files/file_lock.h"

#include "core/error.h"
#include "core/files/files.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace fs = std::filesystem;

TEST_CASE("a file or a folder is locked once, until the lock is released") {
    const TemporaryFolder folder;
    for (const fs::path& path : {folder / "file", folder.path()}) {
        {
            const FileLock first(path, "in use");
            CHECK(first.is_in_place());
            CHECK_THROWS_MATCHES(FileLock(path, "in use"), ConfigError, Catch::Message("config error: in use"));
        }
        CHECK_NOTHROW(FileLock(path, "in use"));
    }
    fs::remove(folder / "file");
    const FileLock none(folder / "file", "in use", FileLock::Missing::leave);
    CHECK_FALSE(none.is_in_place());
    CHECK_FALSE(fs::exists(folder / "file"));
}

TEST_CASE("an output is locked from before it is written until its lock ends, and no partial file is left") {
    const TemporaryFolder folder;
    {
        const OutputLock first(folder / "out");
        CHECK_THROWS_WITH(OutputLock(folder / "out"), Catch::Contains("out: another process is writing this file (out.partial"));
        CHECK_THROWS_AS(write_atomically(folder / "out", [](std::ostream&) { throw DataError("stopped"); }), DataError);
        const OutputLock next(folder / "out");  // the first one has no file any more
        write_atomically(folder / "out", "text");
    }
    CHECK(read_text(folder / "out") == "text");
    { const OutputLock unused(folder / "out"); }
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("an output's lock does not remove the partial file of another process") {
    const TemporaryFolder folder;
    {
        const OutputLock first(folder / "out");
        fs::remove(folder / "out.partial");
        write_text(folder / "out.partial", "another's");
    }
    CHECK(read_text(folder / "out.partial") == "another's");
}

TEST_CASE("a locked file appears with its content, and is replaced only by the next process that has it") {
    const TemporaryFolder folder;
    {
        const LockedFile first(folder / "file", "one", "in use");
        CHECK(read_text(folder / "file") == "one");
        CHECK_THROWS_AS(LockedFile(folder / "file", "two", "in use"), ConfigError);
        CHECK_THROWS_AS(FileLock(folder / "file", "in use"), ConfigError);
        CHECK(read_text(folder / "file") == "one");
    }
    const LockedFile next(folder / "file", "two", "in use");
    CHECK(read_text(folder / "file") == "two");
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}
