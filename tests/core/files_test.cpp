// Files and folders that are read, flushed or checked before the program writes into them.

#include "core/files/files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/local_path.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("the check that a folder is writable leaves no file and changes none") {
    const TemporaryFolder place;
    write_text(place / ".write_probe", "the user's");
    make_writable_folder(place.path());
    CHECK(read_text(place / ".write_probe") == "the user's");
    CHECK(std::distance(std::filesystem::directory_iterator(place.path()), {}) == 1);
    make_writable_folder(place / "new/inner");
    CHECK(std::filesystem::is_empty(place / "new/inner"));
    CHECK_THROWS_AS(make_writable_folder(place / ".write_probe"), ConfigError);
    CHECK_THROWS_AS(make_writable_folder("/proc/self"), ConfigError);
}

TEST_CASE("a folder whose file system cannot flush folders counts as flushed, a file there does not") {
    flush_to_disk("/proc/self");  // fsync says EINVAL there, as on CIFS
    CHECK_THROWS_AS(flush_to_disk("/proc/self/status"), DataError);
    CHECK_THROWS_AS(flush_to_disk("/proc/self/no_such_folder"), DataError);
}

TEST_CASE("a file that cannot get its name leaves no .partial file") {
    const TemporaryFolder place;
    std::filesystem::create_directories(place / "taken/inner");
    CHECK_THROWS_AS(write_atomically(place / "taken", "content"), DataError);
    CHECK_FALSE(std::filesystem::exists(place / "taken.partial"));
}

TEST_CASE("a pipe is refused by name where a file is read more than once, and is not waited for") {
    const TemporaryFolder place;
    REQUIRE(::mkfifo((place / "pipe").c_str(), 0600) == 0);
    try {
        read_file(place / "pipe");
        FAIL("was read");
    } catch (const DataError& error) { CHECK(contains(error.what(), "pipe: is a pipe, expected a file")); }
}

TEST_CASE("an address, an unexpanded ~, a carriage return and nothing are not taken for local paths, other names are") {
    for (const char* path :
         {"", "s3://bucket/run", "s3:/bucket/run", "gs://b", "hf://datasets/x", "file:///data/run", "~", "~/runs/a", "runs/a\r"})
        CHECK(!not_local(path).empty());
    for (const char* path : {"runs/a", "/data/a:b/c", "c:", "a~", "~user", "runs/~/a", "a b\n", "2026-11-27T10:30/run", "x:/run"})
        CHECK(not_local(path).empty());
}

TEST_CASE("a file that reaches the limit of a file's size is named with what to do") {
    const TemporaryFolder place;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit{1000, before.rlim_max};
    std::string told;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
        write_atomically(place / "model", std::string(100'000, 'x'));
    } catch (const DataError& error) { told = error.what(); }
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK(contains(told, "model: cannot be written (File too large)\n  do: "));
    CHECK(contains(told, "ulimit -f"));
}

TEST_CASE("advice is also found in another library's description of a failed write") {
    CHECK(advice_by_text("write failed: errno = 28, error message = 'No space left on device'") == disk_advice(ENOSPC));
    CHECK(advice_by_text("write failed: errno = 5, error message = 'Input/output error'").empty());
    CHECK(failed_write("out", EDQUOT) == concat("out: cannot be written (", std::strerror(EDQUOT), ")", disk_advice(EDQUOT)));
}

TEST_CASE("only a write that more space or another limit helps is answered with that advice") {
    CHECK(contains(disk_advice(ENOSPC), "free disk space"));
    CHECK(contains(disk_advice(EDQUOT), "quota"));
    CHECK(contains(disk_advice(EFBIG), "FAT32"));
    CHECK(disk_advice(EIO).empty());
}

TEST_CASE("bytes that are written at a place are read there, and a read that ends early says whether the file ended or failed") {
    const TemporaryFolder place;
    const int file = ::open((place / "file").c_str(), O_RDWR | O_CREAT, 0600);
    const std::string written(100000, 'x');
    REQUIRE(write_fully(file, 7, written.data(), written.size()));
    CHECK(read_text(place / "file") == std::string(7, '\0') + written);
    std::string read(written.size(), ' ');
    CHECK(read_fully(file, 7, read.data(), read.size()) == read.size());
    CHECK(read == written);
    CHECK(read_fully(file, 8, read.data(), read.size()) == read.size() - 1);
    CHECK(errno == 0);
    ::close(file);
    CHECK(read_fully(file, 7, read.data(), read.size()) == 0);
    CHECK(errno == EBADF);
    CHECK_FALSE(write_fully(file, 7, written.data(), written.size()));
    CHECK(errno == EBADF);
}
