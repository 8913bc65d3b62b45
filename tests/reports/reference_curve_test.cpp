#include "reports/reference_curve.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "reports/report_page.h"
#include "reports/run_charts.h"
#include "reports/sample_run.h"
#include "support/catch.h"
#include "support/folders.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::string refused_reference(const std::string& content) {
    const TemporaryFolder folder;
    write_text(folder / "curve.csv", content);
    try {
        read_reference(folder / "curve.csv");
    } catch (const DataError& error) { return error.what(); }
    return "no refusal";
}

}  // namespace

TEST_CASE("a published curve is read with commas, tabs or semicolons, and its points sorted by step") {
    const TemporaryFolder folder;
    const ChartPoints right{{10, 5.5}, {200, 3}};
    for (const char* content : {"step,loss\n10,5.5\n200,3\n", "# source\n\n\"Loss\"\tloss\tstep\r\nx\t3\t200\r\nx\t5.5\t10\r\n",
                                "loss; step\n3; 2e2\n5.5; 10"}) {
        write_text(folder / "curve.csv", content);
        const ReferenceCurve curve = read_reference(folder / "curve.csv");
        CHECK(curve.name == "curve");
        CHECK(curve.points == right);
    }
}

TEST_CASE("a file that is no curve is refused by its line, with what was expected") {
    CHECK(refused_reference("step,los\n1,2\n").find("line 1: has no column \"loss\"") != std::string::npos);
    CHECK(refused_reference("step,loss\n1,2\n3,x\n").find("line 3: has \"x\" in column 2; expected a number") !=
          std::string::npos);
    CHECK(refused_reference("step,loss\n1\n").find("line 2: has \"\" in column 2") != std::string::npos);
    CHECK(refused_reference("step,loss\n1,nan\n").find("expected a number") != std::string::npos);
    CHECK(refused_reference("# nothing\n").find("has no points") != std::string::npos);
    CHECK_THROWS_AS(read_reference("missing.csv"), DataError);
}

TEST_CASE("a report compares a run with a curve at the steps that the run has reached") {
    const TemporaryFolder folder;
    write_run(folder / "run", 1, 10);  // the loss of step s is 5.8 - 0.1 s
    const std::vector<RunHistory> runs{read_run(folder / "run")};
    const std::vector<ReferenceCurve> references{{"published", {{2, 5.5}, {10, 5}, {11, 4}}}};
    const auto rows = reference_rows(runs, references);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0] == std::vector<std::string>{"reference", "step", "loss", "run", "difference"});
    CHECK(rows[1] == std::vector<std::string>{"published", "2", "5.500", "5.600", "+0.100"});
    CHECK(rows[2] == std::vector<std::string>{"published", "10", "5.000", "4.800", "-0.200"});
    CHECK(std::isnan(loss_near(runs[0], 11)));
    const std::vector<NamedChart> charts = run_charts(runs, references);
    REQUIRE(charts.front().name == "loss_and_references");
    CHECK(charts.front().chart.lines.back().points == references[0].points);
    ReportChoices choices;
    choices.references = references;
    CHECK(report_page(runs, choices).find("Beside published curves") != std::string::npos);
}

TEST_CASE("the published curve of NVIDIA's BERT-Large falls from step to step, and names its source") {
    const std::string file = project_folder() + "/configs/bert_large_phase1_loss.csv";
    const ReferenceCurve curve = read_reference(file);
    CHECK(curve.points.size() == 19);
    CHECK(curve.points.back() == std::pair<double, double>(7038, 1.4));
    CHECK(std::is_sorted(curve.points.begin(), curve.points.end(), [](auto a, auto b) { return a.second > b.second; }));
    CHECK(read_text(file).find("Source: ") != std::string::npos);
}
