#include "telemetry/progress.h"

#include <vector>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

struct Screen {
    std::vector<std::string> said;
    std::string drawn;
    double now = 0;

    ProgressOutput output(bool is_terminal, std::size_t columns = 200) {
        return {is_terminal, columns, [this](std::string_view line) { said.emplace_back(line); },
                [this](std::string_view text) { drawn += text; }, [this] { return now; }};
    }
};

StepRecord timed_record(std::int64_t step, double seconds = 2) {
    return {.step = step,
            .loss = 6.12341,
            .mlm_loss = 5.43214,
            .nsp_loss = 0.69123,
            .learning_rate = 1e-3,
            .sequences_per_second = 123.44,
            .model_tflops_per_second = 1.2345,
            .step_seconds = seconds};
}

}  // namespace

TEST_CASE("a step's line and an evaluation's line have the documented format") {
    CHECK(step_line(timed_record(120), 2000, 192) ==
          "step 120/2000 | loss 6.1234 | mlm 5.4321 | nsp 0.6912 | lr 1.00e-03 | 123.4 seq/s | eta 3m 12s");
    CHECK(evaluation_line({.step = 100, .mlm_loss = 5.1, .mlm_accuracy = 0.213, .perplexity = 164.23, .nsp_loss = 0.69}) ==
          "held-out step 100 | mlm 5.1000 | accuracy 0.2130 | perplexity 164.2 | nsp 0.6900");
}

TEST_CASE("plain lines are printed for the first and last step, and at most once per interval between them") {
    Screen screen;
    Progress progress(50, /*interval_seconds=*/10, screen.output(false));
    for (std::int64_t step = 8; step <= 50; ++step) {
        progress.show(timed_record(step));
        screen.now += 1;
    }
    std::vector<std::string> steps;
    for (const std::string& line : screen.said) steps.push_back(line.substr(0, line.find(" |")));
    CHECK(steps == std::vector<std::string>{"step 8/50", "step 18/50", "step 28/50", "step 38/50", "step 48/50", "step 50/50"});
    CHECK(screen.drawn.empty());
}

TEST_CASE("the remaining time is estimated from the last 50 steps, so a slow start does not matter") {
    Screen screen;
    Progress progress(200, 0, screen.output(false));
    progress.show(timed_record(1, 1000));
    for (std::int64_t step = 2; step <= 51; ++step) progress.show(timed_record(step, 2));
    CHECK(screen.said.back().ends_with("| eta 4m 58s"));  // 149 steps of 2 s
    progress.show(timed_record(200, 2));
    CHECK(screen.said.back().ends_with("| eta 0.0s"));
}

TEST_CASE("the remaining time of a batch warm-up counts the larger steps that follow") {
    Screen screen;
    Progress progress(10, 0, screen.output(false), [](std::int64_t step) { return 3.0 * static_cast<double>(10 - step); });
    progress.show(timed_record(4, 2));
    CHECK(screen.said.back().ends_with("| eta 36.0s"));
}

TEST_CASE("an evaluation is always printed") {
    Screen screen;
    Progress progress(50, 10, screen.output(false));
    progress.show(timed_record(1));
    progress.show(EvaluationRecord{.step = 1});
    progress.show(EvaluationRecord{.step = 1});
    CHECK(screen.said.size() == 3);
}

TEST_CASE("an evaluation of several sources names each with its loss, and without control characters") {
    EvaluationRecord record{.step = 100, .mlm_loss = 5.1, .mlm_accuracy = 0.213, .perplexity = 164.2, .nsp_loss = 0.69};
    const std::string line = evaluation_line(record);
    CHECK(line == "held-out step 100 | mlm 5.1000 | accuracy 0.2130 | perplexity 164.2 | nsp 0.6900");
    record.sources = {{.name = "wiki", .mlm_loss = 5.25}, {.name = "new\x1bs", .mlm_loss = 4.5}};
    CHECK(evaluation_line(record).starts_with(line + " | mlm by source: wiki 5.2500, new"));
    CHECK(evaluation_line(record).ends_with("s 4.5000"));
    CHECK(evaluation_line(record).find('\x1b') == std::string::npos);
}

TEST_CASE("the MFU is shown if it is known") {
    Screen screen;
    Progress progress(50, 10, screen.output(true));
    StepRecord record = timed_record(25);
    record.mfu = 0.4126;
    progress.show(record);
    CHECK(screen.drawn.find("| 1.23 TFLOP/s | mfu 41.3 %") != std::string::npos);
}

TEST_CASE("on a terminal one line is redrawn in place, no wider than the terminal, and cleared for other messages") {
    Screen screen;
    {
        Progress progress(50, 10, screen.output(true));
        progress.show(timed_record(25));
        CHECK(screen.drawn == "\r\x1b[K[==========          ] 25/50 | eta 50.0s | loss 6.1234 | 123.4 seq/s | 1.23 TFLOP/s");
        screen.drawn.clear();
        progress.show(timed_record(26));  // at the same moment
        CHECK(screen.drawn.empty());
        progress.show(EvaluationRecord{.step = 26});
        CHECK(screen.drawn == "\r\x1b[K");
        CHECK(screen.said.size() == 1);
        screen.now = 1;
        progress.show(timed_record(50));
        screen.drawn.clear();
    }
    CHECK(screen.drawn == "\n");

    Screen narrow;
    Progress progress(50, 10, narrow.output(true, 40));
    progress.show(timed_record(25));
    CHECK(narrow.drawn == "\r\x1b[K[=====     ] 25/50 | eta 50.0s");
}
