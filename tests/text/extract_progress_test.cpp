#include "text/reader/extract_progress.h"

#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Records what is shown, and has a clock that the test sets.
struct Screen {
    std::string drawn, said;
    double now = 0;
    ProgressOutput output(bool is_terminal) {
        ProgressOutput output;
        output.is_terminal = is_terminal;
        output.columns = 200;
        output.say = [this](std::string_view line) { (said += line) += '\n'; };
        output.draw = [this](std::string_view text) { drawn += text; };
        output.seconds = [this] { return now; };
        return output;
    }
};

ExtractCounts counts_after(std::uint64_t bytes) {
    ExtractCounts counts;
    counts.bytes_read = bytes;
    counts.articles = 1234;
    return counts;
}

}  // namespace

TEST_CASE("a terminal shows a bar with MB/s and the time left, which is erased at the end") {
    Screen screen;
    {
        ExtractProgress progress(40'000'000, screen.output(true));
        progress.show(counts_after(1));
        CHECK(screen.drawn.empty());
        screen.now = 2;
        progress.show(counts_after(10'000'000));
        CHECK(screen.drawn == "\r\x1b[K[######..................] 25.0 % of 38.1 MiB | 5.0 MB/s | 1,234 articles | eta 6.0s");
    }
    CHECK(screen.drawn.ends_with("\r\x1b[K"));
    CHECK(screen.said.empty());
}

TEST_CASE("a log gets a plain line every few seconds, which for standard input shows only what was read") {
    Screen screen;
    ExtractProgress progress(0, screen.output(false));
    for (screen.now = 0; screen.now < 11; screen.now += 0.5) progress.show(counts_after(1 << 20));
    CHECK(screen.said == "1.0 MiB read | 0.2 MB/s | 1,234 articles\n1.0 MiB read | 0.1 MB/s | 1,234 articles\n");
    CHECK(screen.drawn.empty());
}
