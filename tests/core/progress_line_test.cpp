#include "core/output/progress_line.h"

#include <vector>

#include "core/output/phase_progress.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

struct Screen {
    double now = 100;
    std::vector<std::string> said, drawn;

    ProgressOutput output(bool is_terminal) {
        return {is_terminal, 30, [this](std::string_view line) { said.emplace_back(line); },
                [this](std::string_view text) { drawn.emplace_back(text); }, [this] { return now; }};
    }
};

}  // namespace

TEST_CASE("a log gets a whole line every five seconds, without a bar") {
    Screen screen;
    {
        ProgressLine line(screen.output(false));
        CHECK_FALSE(line.is_due());
        screen.now += 5;
        CHECK(line.is_due());
        CHECK(line.seconds() == 5);
        line.show("half done", 0.5);
        CHECK_FALSE(line.is_due());
    }
    CHECK(screen.said == std::vector<std::string>{"half done"});
    CHECK(screen.drawn.empty());
}

TEST_CASE("a terminal gets a bar within its width, which is erased at the end") {
    Screen screen;
    {
        ProgressLine line(screen.output(true));
        screen.now += 0.2;
        CHECK(line.is_due());
        line.show("half done", 0.5);
        line.show("unknown", std::nullopt);
    }
    CHECK(screen.said.empty());
    const std::string clear = clear_line;
    CHECK(screen.drawn == std::vector<std::string>{clear + "[############............] ha", clear + "unknown", clear});
}

TEST_CASE("a phase with a known amount of work shows its name, its share and the time that is left") {
    Screen screen;
    {
        PhaseProgress phase("comparing", 8, screen.output(false));
        phase.advance();  // not due yet
        screen.now += 6;
        phase.advance(2);
        screen.now += 6;
        phase.advance(9);  // more than was expected
    }
    CHECK(screen.said == std::vector<std::string>{"comparing | 37.5 % | eta 10.0s", "comparing | 100.0 % | eta 0.0s"});
}
