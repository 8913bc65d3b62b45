#include "core/output/line_writer.h"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"
#include "core/strings.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/folders.h"

using namespace bertpretrain;

namespace {

/// A pipe with a capacity of one page. Its ends are never closed, because a LineWriter's thread may still use them.
struct Pipe {
    Pipe() {
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        REQUIRE(::fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
    }
    /// Returns everything up to and including a line that contains `last`.
    std::string read_to(const std::string& last) const {
        std::string text;
        char page[4096];
        while (text.find(last) == text.npos || text.back() != '\n') {
            const ssize_t count = ::read(ends[0], page, sizeof page);
            REQUIRE(count > 0);
            text.append(page, static_cast<std::size_t>(count));
        }
        return text;
    }
    int ends[2] = {-1, -1};
};

}  // namespace

TEST_CASE("a line is written when put() returns, as long as the output accepts it") {
    const Pipe pipe;
    LineWriter writer(pipe.ends[1]);
    writer.put("one\n");
    CHECK(pipe.read_to("one") == "one\n");
    CHECK(writer.flush(10));
}

TEST_CASE("lines that do not fit are dropped, and their number is written in their place") {
    const Pipe pipe;
    LineWriter writer(pipe.ends[1], 1000);
    const std::string line(99, 'x');
    for (int i = 0; i < 10'000; ++i) writer.put(line + "\n");  // a megabyte, which is not read
    CHECK_FALSE(writer.flush(0));
    const std::string text = pipe.read_to("missing");
    const auto kept = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) - 1;
    CHECK(kept <= 4096 / 100 + 1 + 2 * 1000 / 100);
    CHECK(text.find(concat("(", 10'000 - kept, " line(s) are missing here")) == kept * 100);
    CHECK(writer.flush(10));
    writer.put("later\n");
    CHECK(pipe.read_to("later") == "later\n");
}

TEST_CASE("a drawing is dropped while earlier text waits") {
    const Pipe pipe;
    LineWriter writer(pipe.ends[1]);
    writer.put(std::string(5000, 'x') + "\n");  // more than the pipe holds
    writer.put_unless_late("drawn");
    CHECK(pipe.read_to("\n").find("drawn") == std::string::npos);
    REQUIRE(writer.flush(10));
    writer.put_unless_late("drawn again\n");
    CHECK(pipe.read_to("\n") == "drawn again\n");
}

TEST_CASE("a non-blocking descriptor gets its whole line, and a full disk does not block flush()") {
    const Pipe pipe;
    ::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK);
    LineWriter writer(pipe.ends[1]);
    const std::string page(9000, 'x');
    writer.put(page + "\n");
    CHECK(pipe.read_to("\n") == page + "\n");
    LineWriter full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    full.put("lost\n");
    CHECK(full.flush(10));
}
