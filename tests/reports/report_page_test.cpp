#include "reports/report_page.h"

#include <expat.h>

#include "core/error.h"
#include "reports/held_out_data.h"
#include "reports/report_json.h"
#include "reports/run_charts.h"
#include "reports/run_comparison.h"
#include "reports/sample_run.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"
#include "telemetry/devices_file.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Returns chromium's command, with a profile in the folder.
std::string browser(const TemporaryFolder& folder) {
    return "HOME=" + folder.path().string() +
           " timeout 50 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir=" +
           (folder / "profile").string();
}

/// Writes four readings, a minute apart: rank r is busy for 50 + r % of the time and a degree hotter at each.
void write_devices(const std::filesystem::path& run, std::int64_t ranks) {
    DevicesFile file(run / "devices.jsonl");
    for (int minute = 0; minute < 4; ++minute) {
        DevicesRecord record{.step = minute + 1, .time = noon + 60.0 * minute};
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            DeviceReading reading;
            reading.utilization = 0.5 + 0.01 * static_cast<double>(rank);
            reading.temperature_celsius = 60 + minute;
            reading.ecc_corrected_errors = 7;  // since the driver was loaded: none during the run
            record.ranks.push_back({rank, rank % 2 == 0 ? "a" : "b", concat("cuda:", rank / 2), reading});
        }
        file.append(record);
    }
    file.finish();
}

/// Returns a page of two runs: one was restarted, and one has a hostile name.
std::string sample_page(const TemporaryFolder& folder) {
    write_run(folder / "a<b>&", 2, 10, 14);
    write_resumed_run(folder / "second");
    write_devices(folder / "second", 2);
    ReportChoices choices;
    choices.target = Target::parse("held_out_mlm_loss=4.5");
    choices.scaling = true;
    return report_page(read_runs({(folder / "a<b>&").string(), (folder / "second").string()}), choices);
}

const NamedChart* find_chart(const std::vector<NamedChart>& charts, const std::string& name) {
    const auto found = std::find_if(charts.begin(), charts.end(), [&](const NamedChart& one) { return one.name == name; });
    return found == charts.end() ? nullptr : &*found;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
}

}  // namespace

TEST_CASE("a report is one page with a chart of every measurement, and needs no network") {
    const TemporaryFolder folder;
    const std::string page = sample_page(folder);
    for (const char* chart :
         {"mlm_loss", "mlm_loss_by_epochs", "held_out_mlm_loss_by_hours", "nsp_loss", "held_out_mlm_accuracy", "learning_rate",
          "grad_norm", "sequences_per_second", "mfu", "device_utilization", "memory", "data_wait", "exposed_communication",
          "scaling", "efficiency", "device_rank_utilization", "device_temperature"})
        CHECK(count(page, concat("<figure id=\"", chart, "\">")) == 1);
    CHECK(count(page, "<svg") == 18);
    CHECK(page.find(">restart<") != std::string::npos);
    CHECK(page.find("class=\"flag\"") != std::string::npos);
    CHECK(page.find("prefers-color-scheme:dark") != std::string::npos);
    CHECK(page.find("a&lt;b&gt;&amp;") != std::string::npos);
    CHECK(page.find("a<b>") == std::string::npos);
    const std::size_t namespaces = count(page, "http://www.w3.org/2000/svg");
    CHECK(count(page, "http") == namespaces);
    for (const char* part : {"src=", "href=", "@import", "url("}) CHECK(page.find(part) == std::string::npos);
}

TEST_CASE("a run that is judged by a task has charts of it with intervals, and its last score in the table") {
    const TemporaryFolder folder;
    write_run(folder / "plain", 1, 10);
    write_run(folder / "probed", 1, 4);
    MetricsFile metrics(folder / "probed/metrics.jsonl");
    for (const int step : {2, 4}) {
        EvaluationRecord record{.step = step, .mlm_loss = 5, .time = noon + 60 + step};
        record.probe = ProbeRecord{.accuracy = 0.2 * step, .accuracy_low = 0.19 * step, .accuracy_high = 0.21 * step};
        metrics.append(record);
    }
    metrics.finish();
    const std::vector<RunHistory> runs = read_runs({(folder / "plain").string(), (folder / "probed").string()});
    const std::vector<NamedChart> charts = run_charts(runs);
    const auto found =
        std::find_if(charts.begin(), charts.end(), [](const NamedChart& one) { return one.name == "probe_accuracy"; });
    REQUIRE(found != charts.end());
    REQUIRE(found->chart.lines.size() == 3);  // of one run: the accuracy and its bounds
    CHECK(found->chart.lines[0].points.back() == std::pair<double, double>(4, 80));
    CHECK(found->chart.lines[1].points.back().second == Approx(76));
    const auto rows = summary_rows(runs);
    CHECK(rows[0].back() == "last probe");
    CHECK(rows[1].back() == "-");
    CHECK(rows[2].back() == "80.00 % (76.00 to 84.00)");
    CHECK(Target::parse("probe_accuracy=0.8").is_reached_by(0.81));
    CHECK_FALSE(Target::parse("probe_macro_f1=0.8").is_reached_by(0.79));
}

TEST_CASE("a run that ended with an error has its exit code and the cause beside its steps") {
    const TemporaryFolder folder;
    write_run(folder / "run", 1, 10);
    CHECK(summary_rows({read_run(folder / "run")})[1][2] == "10 of 20");
    write_text(folder / "run/exit.json", R"({"code": 6, "cause": "numbers error: step 10: bad\n  do: lower it"})");
    CHECK(summary_rows({read_run(folder / "run")})[1][2] == "10 of 20, exit 6: numbers error: step 10: bad");
    const auto json = report_json({read_run(folder / "run")}, {});
    CHECK(json.at("runs")[0].at("exit").at("code") == 6);
    CHECK(json.at("runs")[0].at("exit").at("cause") == "numbers error: step 10: bad\n  do: lower it");
}

TEST_CASE("of several runs the one with the lowest held-out loss is marked") {
    const TemporaryFolder folder;
    write_run(folder / "short", 1, 10);
    write_run(folder / "long", 1, 20);
    write_run(folder / "unmeasured", 1, 4);
    const auto best = [](const std::vector<RunHistory>& runs) {
        std::vector<std::string> texts;
        for (const auto& row : summary_rows(runs)) texts.push_back(row.at(5));
        return texts;
    };
    CHECK(best({read_run(folder / "short"), read_run(folder / "long"), read_run(folder / "unmeasured")}) ==
          std::vector<std::string>{"best held-out", "4.3000", "3.3000 (lowest)", "-"});
    CHECK(best({read_run(folder / "long")}) == std::vector<std::string>{"best held-out", "3.3000"});
}

TEST_CASE("of runs that were measured on different held-out rows, none is the lowest of all, and compare refuses them") {
    const TemporaryFolder folder;
    std::vector<RunHistory> runs;
    for (const char* name : {"a", "b", "other", "older"}) {
        write_run(folder / name, 1, 10 + 5 * static_cast<int>(runs.size()));
        runs.push_back(read_run(folder / name));
    }
    CHECK(runs[0].held_out.empty());
    const auto say = [&](std::size_t run, const std::string& rows) {
        write_text(runs[run].folder / "events.jsonl",
                   event_line(0, R"("event":"start","step":0,"ranks":1,"held_out":")" + rows + "\""));
        runs[run] = read_run(runs[run].folder);
        CHECK(runs[run].held_out == std::set<std::string>{rows});
    };
    CHECK(explain_held_out_labels(runs).empty());
    for (const std::size_t run : {0U, 1U, 2U}) say(run, run == 2 ? "files 2" : "files 1");
    CHECK(best_held_out_texts(runs) == std::vector<std::string>{"4.3000 (A)", "3.8000 (A, lowest)", "3.3000 (B)", "2.8000 (?)"});
    CHECK_THAT(explain_held_out_labels(runs), Catch::Contains("different held-out rows") && Catch::Contains("?: not recorded"));
    CHECK_THROWS_WITH(compare_runs(runs[1], runs[2]),
                      Catch::Contains("different held-out rows (files 1 and files 2)") && Catch::Contains("do: "));
    CHECK_NOTHROW(compare_runs(runs[0], runs[1]));
    CHECK_NOTHROW(compare_runs(runs[0], runs[3]));
    CHECK(report_json(runs, {}).at("runs").at(2).at("held_out_rows") == nlohmann::json{"files 2"});
    // A start whose steps were repeated, and one that measured nothing, do not count.
    const std::string start = R"("event":"start","step":0,"ranks":1,"held_out":")";
    write_text(runs[1].folder / "events.jsonl",
               event_line(0, start + "files 3\"") + event_line(1, start + "files 1\"") +
                   event_line(500, R"("event":"resume","step":15,"ranks":1,"held_out":"files 4")"));
    runs[1] = read_run(runs[1].folder);
    CHECK(runs[1].held_out == std::set<std::string>{"files 1"});
    runs.erase(runs.begin() + 2, runs.end());
    CHECK(best_held_out_texts(runs) == std::vector<std::string>{"4.3000", "3.8000 (lowest)"});
}

TEST_CASE("a run with several sources gets a chart and a table of their losses") {
    const TemporaryFolder folder;
    write_run(folder / "run", 1, 20);
    CHECK(report_page({read_run(folder / "run")}, {}).find("source_mlm_loss") == std::string::npos);
    write_run(folder / "mixed", 1, 1);
    {
        MetricsFile metrics(folder / "mixed/metrics.jsonl");
        for (int step = 2; step <= 20; ++step) {
            StepRecord record{.step = step, .samples = 8 * step, .mlm_loss = 4, .time = noon + 10 * step};
            record.step_seconds = 10;
            record.sources = {{"books", 6, 3.25, 0.5, true, 0.7, 6 * step, step / 10.0}};
            if (step % 2 == 0) record.sources.push_back({"<news>", 2, 5.75, 0.5, true, 0.65, 2 * step, step / 4.0});
            metrics.append(record);
            if (step % 10 == 0)
                metrics.append(EvaluationRecord{.step = step,
                                                .mlm_loss = 4,
                                                .time = record.time + 1,
                                                .sources = {{.name = "books", .mlm_loss = 90.0 / step}}});
        }
    }
    const std::string page = report_page({read_run(folder / "mixed")}, {});
    CHECK(count(page, ">books, held-out<") == 1);
    CHECK(count(page, "<figure id=\"source_mlm_loss\">") == 1);
    CHECK(page.find("<tr><td>mixed</td><td>books</td><td>75.00 "
                    "%</td><td>120</td><td>2.00</td><td>3.2500</td><td>0.7000</td><td>4.5000</td></tr>") != std::string::npos);
    CHECK(page.find("<td>&lt;news&gt;</td><td>25.00 %</td><td>40</td><td>5.00</td><td>5.7500</td><td>0.6500</td><td>-</td>") !=
          std::string::npos);
    CHECK(page.find("<news>") == std::string::npos);
}

TEST_CASE("a number that no run has gets no chart") {
    const TemporaryFolder folder;
    write_run(folder / "run", 1, 3);
    write_text(folder / "run/events.jsonl", "");  // does not record the length of epochs
    for (const NamedChart& chart : run_charts({read_run(folder / "run")})) {
        CHECK(chart.name.find("held_out") == std::string::npos);
        CHECK(chart.name.find("epochs") == std::string::npos);
    }
}

TEST_CASE("a number that is zero in every run gets no chart, and every title fits into its chart") {
    const TemporaryFolder folder;
    write_run(folder / "run", 1, 10, 11, {.exposed = 0});
    const std::vector<NamedChart> charts = run_charts({read_run(folder / "run")});
    CHECK(charts.size() > 8);
    for (const NamedChart& chart : charts) {
        CHECK(chart.name != "exposed_communication");
        CHECK(svg_text(chart.chart).find(">" + chart.chart.title + "<") != std::string::npos);
    }
}

TEST_CASE("every rank's device has a line in the charts of its readings, and what no rank reports has no chart") {
    const TemporaryFolder folder;
    write_run(folder / "run", 2, 10);
    write_devices(folder / "run", 2);
    write_text(folder / "run/devices.jsonl", read_text(folder / "run/devices.jsonl") + R"({"step":5,"time":17)");
    const std::vector<NamedChart> charts = run_charts({read_run(folder / "run")});
    const NamedChart* const utilization = find_chart(charts, "device_rank_utilization");
    REQUIRE(utilization != nullptr);
    REQUIRE(utilization->chart.lines.size() == 2);
    CHECK(utilization->chart.lines[1].name == "rank 1");
    REQUIRE(utilization->chart.lines[1].points.size() == 4);
    CHECK(utilization->chart.lines[1].points[3].first == Approx(0.05));
    CHECK(utilization->chart.lines[1].points[3].second == Approx(51));
    const NamedChart* const temperature = find_chart(charts, "device_temperature");
    REQUIRE(temperature != nullptr);
    CHECK(temperature->chart.lines[0].points.back().second == 63);
    for (const char* unread :
         {"device_power", "device_clock", "device_rank_memory", "device_memory_errors", "device_link_errors"})
        CHECK(find_chart(charts, unread) == nullptr);
}

TEST_CASE("of many ranks the lowest, the median and the highest are drawn, and a run with a single reading draws none") {
    const TemporaryFolder folder;
    write_run(folder / "run", 9, 10);
    write_devices(folder / "run", 9);
    const auto charts = run_charts({read_run(folder / "run")});
    const NamedChart* const found = find_chart(charts, "device_rank_utilization");
    REQUIRE(found != nullptr);
    REQUIRE(found->chart.lines.size() == 3);
    CHECK(found->chart.lines[0].name == "lowest rank");
    CHECK(found->chart.lines[0].points.front().second == Approx(50));
    CHECK(found->chart.lines[1].points.front().second == Approx(54));
    CHECK(found->chart.lines[2].points.front().second == Approx(58));

    const std::string text = read_text(folder / "run/devices.jsonl");
    write_text(folder / "run/devices.jsonl", text.substr(0, text.find('\n') + 1));
    CHECK(find_chart(run_charts({read_run(folder / "run")}), "device_rank_utilization") == nullptr);
}

TEST_CASE("a browser shows the report, light and dark") {
    if (run_command("command -v chromium").exit_code != 0) SKIP_TEST(skip::no_browser, "chromium is not installed");
    const TemporaryFolder folder;
    const std::string page = (folder / "report.html").string();
    write_text(page, sample_page(folder));
    const std::string looks_at = browser(folder) + " --window-size=1400,2600";
    for (const std::string mode : {"light", "dark"}) {
        const std::string image = (folder / (mode + ".png")).string();
        const CommandResult shot = run_command(looks_at + (mode == "dark" ? " --blink-settings=preferredColorScheme=0" : "") +
                                               " --screenshot=" + image + " file://" + page);
        CAPTURE(shot.err);
        REQUIRE(std::filesystem::exists(image));
        const CommandResult seen = run_command(concat(PYTHON, " tests/reports/look_at.py ", image));
        CAPTURE(mode, seen.out, seen.err);
        CHECK(seen.out == mode + "\n");
    }
    const CommandResult dom = run_command(looks_at + " --dump-dom file://" + page);
    CHECK(count(dom.out, "<path d=") >= 12);
    CHECK(dom.out.find("</html>") != std::string::npos);
}

TEST_CASE("nothing on the report is wider than a phone, and the charts' text is legible there and in three columns") {
    if (run_command("command -v chromium").exit_code != 0) SKIP_TEST(skip::no_browser, "chromium is not installed");
    const TemporaryFolder folder;
    write_text(folder / "report.html", sample_page(folder));
    std::filesystem::copy(project_folder() + "/tests/reports/measure_page.html", folder / "measure.html");
    for (const auto& [width, columns] : {std::pair{400, 1}, {1300, 3}}) {
        const CommandResult dom =
            run_command(concat(browser(folder), " --allow-file-access-from-files --virtual-time-budget=5000",
                               " --dump-dom 'file://", (folder / "measure.html").string(), "#", width, "'"));
        CAPTURE(width, dom.out, dom.err);
        CHECK(dom.out.find(concat("width ", width, ", columns ", columns, ", texts outside 0")) != std::string::npos);
        const std::size_t at = dom.out.find("smallest letters ");
        REQUIRE(at != std::string::npos);
        CHECK(std::stod(dom.out.substr(at + 17)) >= 9);
    }
}
