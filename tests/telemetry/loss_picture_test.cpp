#include "telemetry/loss_picture.h"

#include <cmath>
#include <limits>

#include <expat.h>

#include "core/error.h"
#include "support/catch.h"
#include "telemetry/chart.h"
#include "telemetry/chart_legend.h"
#include "telemetry/metrics_file.h"

using namespace bertpretrain;

namespace {

bool is_well_formed_xml(const std::string& text) {
    XML_Parser parser = XML_ParserCreate(nullptr);
    const bool good = XML_Parse(parser, text.data(), static_cast<int>(text.size()), 1) == XML_STATUS_OK;
    XML_ParserFree(parser);
    return good;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
}

/// Returns the "x,y" pairs of the path drawn in `color`, with 'M' where the line is interrupted.
std::string path_of(const std::string& svg, const std::string& color) {
    const std::string begin = "<path d=\"";
    const std::size_t end = svg.find("\" fill=\"none\" stroke=\"" + color);
    if (end == std::string::npos) return "";
    const std::size_t first = svg.rfind(begin, end) + begin.size();
    return svg.substr(first, end - first);
}

Metrics sample_metrics(std::int64_t steps) {
    Metrics metrics;
    for (std::int64_t step = 1; step <= steps; ++step)
        metrics.steps.push_back({.step = step, .mlm_loss = 10 * std::exp(-static_cast<double>(step) / 50)});
    metrics.evaluations = {{.step = 10, .mlm_loss = 8.5, .mlm_accuracy = 0.1, .perplexity = 4914.8},
                           {.step = 20, .mlm_loss = 6.75, .mlm_accuracy = 0.2, .perplexity = 854.06}};
    return metrics;
}

/// Returns the history of `metrics`, added in the order of the steps.
LossHistory history_of(const Metrics& metrics) {
    LossHistory history;
    auto evaluation = metrics.evaluations.begin();
    const auto evaluations_before = [&](std::int64_t step) {
        for (; evaluation != metrics.evaluations.end() && evaluation->step < step; ++evaluation) history.add(*evaluation);
    };
    for (const StepRecord& record : metrics.steps) {
        evaluations_before(record.step);
        history.add(record);
    }
    evaluations_before(std::numeric_limits<std::int64_t>::max());
    return history;
}

const std::string training_color = "#1f77b4", held_out_color = "#d62728";

}  // namespace

TEST_CASE("the picture of the losses is well-formed XML that needs no other file, for any title") {
    const std::string svg = loss_picture(history_of(sample_metrics(100)), {.title = "a < b & \"c\" > \x01", .unigram_loss = 7.1});
    CHECK(is_well_formed_xml(svg));
    CHECK(count(svg, "href") == 0);
    CHECK(count(svg, "a &lt; b &amp; &quot;c&quot; &gt;") == 1);
}

TEST_CASE("the picture shows training, held-out with a marker each, and the word-frequency level") {
    const std::string svg = loss_picture(history_of(sample_metrics(100)), {.title = "Test", .unigram_loss = 7.1});
    CHECK(count(path_of(svg, training_color), ",") == 100);
    CHECK(count(path_of(svg, held_out_color), ",") == 2);
    CHECK(count(svg, "<circle") == 2);
    CHECK(count(svg, "stroke-dasharray") == 2);  // the level and its legend
    for (const std::string text : {">training<", ">held-out<", ">word frequencies alone: 7.10<", ">optimizer step<",
                                   ">loss per masked token (nats)<", ">Test<"})
        CHECK(count(svg, text) == 1);
    const std::string bare = loss_picture(history_of({sample_metrics(3).steps, {}}), {});
    CHECK(count(bare, "stroke-dasharray") == 0);
    CHECK(count(bare, ">held-out<") == 0);
}

TEST_CASE("a chart places its points linearly between round ticks") {
    const std::string svg = svg_text({"", "", "", {{"", "red", {{0, 0}, {50, 6}, {100, 3}}, 1, false}}, {}});
    // x: 0 to 100 on pixels 84 to 564; y: 0 to 6 on pixels 320 to 48
    CHECK(path_of(svg, "red") == "M84.00,320.00 L324.00,48.00 L564.00,184.00");
    for (const std::string tick : {">0<", ">20<", ">40<", ">100<", ">3<", ">6<"}) CHECK(count(svg, tick) >= 1);
}

TEST_CASE("a line that rises above what y covers leaves the picture at the top, and the legend says how far it rises") {
    Chart chart{"",
                "",
                "",
                {{"good", "red", {{0, 6}, {50, 0}, {100, 3}}, 1, false}, {"bad", "blue", {{0, 6}, {50, 6000}}, 1, false}},
                {}};
    chart.y_most = 7;
    const std::string svg = svg_text(chart);
    CHECK(path_of(svg, "red") == "M84.00,48.00 L324.00,320.00 L564.00,184.00");  // as alone
    CHECK(count(svg, ">good<") == 1);
    CHECK(count(svg, ">bad, rises to 6,000<") == 1);
    chart.lines[1].points = {{0, 3}, {50, 9}, {100, 3}};  // and comes back
    CHECK(path_of(svg_text(chart), "blue") == "M84.00,184.00 L204.00,48.00 M444.00,48.00 L564.00,184.00");
    chart.lines = {{"bad", "blue", {{0, 6000}, {50, 6000}}, 1, false}};  // from its beginning
    CHECK(count(svg_text(chart), ">bad, rises to 6,000<") == 1);
}

TEST_CASE("a line of one point is drawn as a marker, because its path shows nothing") {
    const double gap = std::numeric_limits<double>::quiet_NaN();
    CHECK(count(svg_text({"", "", "", {{"", "red", {{50, 6}, {60, gap}}, 1, false}}, {}}), "<circle") == 1);
    CHECK(count(svg_text({"", "", "", {{"", "red", {{50, 6}, {60, 5}}, 1, false}}, {}}), "<circle") == 0);
}

TEST_CASE("a legend's entries share a row as far as they fit, and names that are too long are cut between letters") {
    const std::vector<LegendPlace> places = place_legend({"ab", "cd", "0123456789", "äöüäöüäöüäöüäöü"}, 105, 10, 10 / 0.62);
    REQUIRE(places.size() == 4);  // a row has 9 letters
    CHECK(places[0].x == 0);
    CHECK(places[1].row == 0);
    CHECK(places[1].x > places[0].x + 30);
    CHECK(places[2].row == 1);
    CHECK(places[2].name == "0123456…");
    CHECK(places[3].row == 2);
    CHECK(places[3].name == "äöüäöüä…");
    const std::vector<LegendPlace> pair = place_legend({"adamw_3e-3_mask30", "b"}, 600, 36, 15);
    CHECK(pair[1].x > 36 + 10.86 * 15);  // as wide as the name in DejaVu Sans
}

TEST_CASE("a non-finite loss leaves a gap and affects no other point") {
    Metrics metrics = sample_metrics(10);
    metrics.steps[4].mlm_loss = std::numeric_limits<double>::quiet_NaN();
    metrics.steps[7].mlm_loss = std::numeric_limits<double>::infinity();
    for (const std::int64_t smoothing : {0, 3}) {
        const std::string svg = loss_picture(history_of(metrics), {.smoothing_steps = smoothing});
        CHECK(count(path_of(svg, training_color), "M") == 3);
        CHECK(count(path_of(svg, training_color), ",") == 8);
        CHECK(count(svg, "nan") + count(svg, "inf") == 0);
    }
    for (StepRecord& record : metrics.steps) record.mlm_loss = std::numeric_limits<double>::quiet_NaN();
    CHECK(is_well_formed_xml(loss_picture(history_of({metrics.steps, {}}), {})));
}

TEST_CASE("smoothing averages over the given number of steps and keeps the raw line in the background") {
    Metrics metrics;
    for (std::int64_t step = 0; step <= 100; ++step)
        metrics.steps.push_back({.step = step, .mlm_loss = step % 2 == 0 ? 0.0 : 6.0});
    const std::string svg = loss_picture(history_of(metrics), {.smoothing_steps = 2});
    CHECK(count(svg, ">training, mean of 2 steps<") == 1);
    const std::string path = path_of(svg, training_color);
    CHECK(path.substr(0, path.find(" L", 3)) == "M84.00,320.00");
    CHECK(count(path, ",184.00") == 100);  // every other point is the mean of 0 and 6
    CHECK(count(path_of(svg, "#c6dbef"), ",") == 101);
}

TEST_CASE("the picture of a long run has a bounded size") {
    const std::string svg = loss_picture(history_of(sample_metrics(100'000)), {});
    CHECK(count(path_of(svg, training_color), ",") > 500);
    CHECK(count(path_of(svg, training_color), ",") <= 1000);
    CHECK(is_well_formed_xml(svg));
}

TEST_CASE("a picture without any step is a DataError") { CHECK_THROWS_AS(loss_picture({}, {}), DataError); }

TEST_CASE("the table of evaluations averages the training loss since the previous evaluation") {
    Metrics metrics = sample_metrics(0);
    for (std::int64_t step = 1; step <= 25; ++step)
        metrics.steps.push_back({.step = step, .mlm_loss = static_cast<double>(step)});
    metrics.steps[2].mlm_loss = std::numeric_limits<double>::quiet_NaN();  // step 3 is skipped: (55 - 3) / 9
    metrics.evaluations.push_back({.step = 30'000, .mlm_loss = 1, .mlm_accuracy = 1, .perplexity = 2.718});
    metrics.evaluations.push_back({.step = 30'001, .mlm_loss = 1, .mlm_accuracy = 1, .perplexity = 2.718});
    CHECK(loss_table(history_of(metrics)) ==
          "step    training mlm loss  held-out mlm loss  held-out accuracy  held-out perplexity\n"
          "------  -----------------  -----------------  -----------------  -------------------\n"
          "    10             5.7778             8.5000             0.1000               4914.8\n"
          "    20            15.5000             6.7500             0.2000                854.1\n"
          "30,000            23.0000             1.0000             1.0000                  2.7\n"
          "30,001  -                             1.0000             1.0000                  2.7\n");
}
