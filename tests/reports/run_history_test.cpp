#include "reports/run_history.h"

#include <sstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "reports/report_json.h"
#include "reports/sample_run.h"
#include "reports/setting_differences.h"
#include "reports/time_shares.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Metrics as in write_resumed_run(), with the seconds since each start, and the system clock set back a day after step 5.
std::string set_back(const std::string& metrics) {
    std::istringstream lines(metrics);
    std::string all;
    for (std::string text; std::getline(lines, text);) {
        auto line = nlohmann::json::parse(text);
        const double time = line.at("time"), start = line.at("step") > 10 ? noon + 1800 : noon;
        line["elapsed_seconds"] = time - start + 0.5;
        if (line.at("step") > 5) line["time"] = time - 86400;
        all += line.dump() + "\n";
    }
    return all;
}

std::string day_before(std::string events) {
    const std::string day = "2024-05-01", before = "2024-04-30";
    for (std::size_t at = 0; (at = events.find(day, at)) != events.npos;) events.replace(at, day.size(), before);
    return events;
}

}  // namespace

TEST_CASE("a killed run's sessions last until its last step, even if removed, and time between sessions is not counted") {
    const TemporaryFolder folder;
    write_resumed_run(folder / "run");
    const RunHistory run = read_run(folder / "run");
    REQUIRE(run.sessions.size() == 2);
    CHECK(run.sessions[0].end - run.sessions[0].begin == Approx(135));
    CHECK(run.sessions[0].lost_steps == 2);
    CHECK(run.sessions[1].end - run.sessions[1].begin == Approx(22));
    CHECK(run.restarts() == 1);
    CHECK(run.samples_per_epoch == 32);
    const Spent all = spent_until(run, INFINITY);
    CHECK(all.seconds == Approx(135 + 22));
    CHECK(all.accelerator_seconds == Approx(2 * 135 + 4 * 22));
    CHECK(all.restarts == 1);
    CHECK(spent_until(run, noon + 12).seconds == Approx(12));
    CHECK(spent_until(run, noon + 12).restarts == 0);
    CHECK(steady_rate(run) == Approx(1.5));  // in the last session
}

TEST_CASE("every second of a run is counted for exactly one activity") {
    const TemporaryFolder folder;
    write_resumed_run(folder / "run");
    const RunHistory run = read_run(folder / "run");
    const TimeShares shares = time_shares(run);
    CHECK(shares.data == Approx(10));
    CHECK(shares.communication == Approx(5));
    CHECK(shares.computing == Approx(10 * 8.5 + 4 * 5));
    CHECK(shares.evaluating == Approx(2));
    CHECK(shares.starting == Approx(2 + 2));
    CHECK(shares.saving == Approx(9 - 1));              // one second between steps, except where it evaluated
    CHECK(shares.lost == Approx(135 - (12 + 99 + 1)));  // after the evaluation of step 10
    CHECK(shares.total() == Approx(spent_until(run, INFINITY).seconds));
}

TEST_CASE("setting the clock back a day, during a run and between its starts, changes no duration") {
    const TemporaryFolder folder;
    write_resumed_run(folder / "run");
    write_resumed_run(folder / "set");
    write_text(folder / "set/metrics.jsonl", set_back(read_text(folder / "set/metrics.jsonl")));
    write_text(folder / "set/events.jsonl",
               event_line(0, R"("event":"start","step":0,"samples_per_epoch":32,"ranks":2,"elapsed_seconds":0.5)") +
                   day_before(event_line(1800, R"("event":"resume","step":10,"ranks":4,"elapsed_seconds":0.5)") +
                              event_line(1800, R"("event":"lost","step":10,"lost_steps":2,"lost_until":1714478535.0,)"
                                               R"("lost_until_elapsed":135.5,"elapsed_seconds":0.5)") +
                              event_line(1822, R"("event":"stop","step":14,"elapsed_seconds":22.5)")));
    const RunHistory run = read_run(folder / "run"), set = read_run(folder / "set");
    REQUIRE(set.sessions.size() == 2);
    CHECK(set.sessions[0].end - set.sessions[0].begin == Approx(135));
    CHECK(set.sessions[1].end - set.sessions[1].begin == Approx(22));
    CHECK(spent_until(set, INFINITY).accelerator_seconds == Approx(2 * 135 + 4 * 22));
    for (std::size_t i = 0; i < run.metrics.steps.size(); ++i)
        CHECK(spent_until(set, set.metrics.steps[i].time).seconds == Approx(spent_until(run, run.metrics.steps[i].time).seconds));
    CHECK(spent_until(set, set.metrics.evaluations.back().time).seconds ==
          Approx(spent_until(run, run.metrics.evaluations.back().time).seconds));
    const TimeShares shares = time_shares(run), of_set = time_shares(set);
    CHECK(of_set.saving == Approx(shares.saving));
    CHECK(of_set.starting == Approx(shares.starting));
    CHECK(of_set.lost == Approx(shares.lost));
}

TEST_CASE("the main cause of low utilisation is reported with advice") {
    const TemporaryFolder folder;
    const auto flag = [&](const std::string& name, double every, SampleStep one) {
        write_run(folder / name, 2, 10, every, one);
        const RunHistory run = read_run(folder / name);
        return low_utilisation(run, time_shares(run)).value_or("none");
    };
    CHECK(flag("good", 10.1, {10, 0.1, 0.1, 2}) == "none");
    CHECK(flag("data", 10.1, {10, 3, 0.1, 2}).find("data.loader_threads") != std::string::npos);
    CHECK(flag("network", 10.1, {10, 0.1, 3, 5}).find("bucket_mib") != std::string::npos);
    CHECK(flag("small", 10.1, {10, 0.1, 6, 9}).find("small batches") != std::string::npos);
    CHECK(flag("saving", 14, {10, 0.1, 0.1, 2}).find("save_every_steps") != std::string::npos);
}

TEST_CASE("a folder without a run, and a run without a step, are refused with the folder's name") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(read_run(folder / "absent"), DataError);
    write_text(folder / "metrics.jsonl", "");
    CHECK_THROWS_WITH(read_run(folder.path()), Catch::Matchers::Contains("no step"));
}

TEST_CASE("among several runs those without a step are left out, and only where no run has one they are refused") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / "runs/begun");
    write_text(folder / "runs/begun/metrics.jsonl", "");
    CHECK_THROWS_WITH(read_runs({(folder / "runs").string()}), Catch::Matchers::Contains("begun: this run has no step yet"));
    write_run(folder / "runs/trained", 1, 3);
    const auto runs = read_runs({(folder / "runs").string()});
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].name == "trained");
}

TEST_CASE("runs whose folders have the same name are named by their paths") {
    const TemporaryFolder folder;
    for (const std::string name : {"a/run", "b/run", "c"}) write_run(folder / name, 1, 3);
    const std::string a = (folder / "a/run").string();
    const auto runs = read_runs({a, (folder / "b/run").string(), (folder / "c").string() + "/"});
    CHECK(runs[0].name == a);
    CHECK(runs[2].name == "c");
}

TEST_CASE("a folder that is no run stands for the runs below it, in the order of their names; not for runs inside runs") {
    const TemporaryFolder folder;
    for (const char* name : {"sweep/b", "sweep/a", "sweep/deeper/c", "sweep/a/inner", "other"}) write_run(folder / name, 1, 5);
    std::vector<std::string> names;
    for (const RunHistory& run : read_runs({(folder / "sweep").string(), (folder / "other").string()})) names.push_back(run.name);
    CHECK(names == std::vector<std::string>{"a", "b", "c", "other"});
    std::filesystem::create_directories(folder / "empty/inner");
    CHECK_THROWS_WITH(read_runs({(folder / "empty").string()}), Catch::Contains("contains no run, and there is none below it"));
}

TEST_CASE("settings that differ between runs are listed with each run's value, others are not") {
    const TemporaryFolder folder;
    const auto write = [&](const char* name, const nlohmann::json& settings) {
        write_run(folder / name, 1, 5);
        write_text(folder / name / "settings.json", settings.dump());
    };
    const std::string path(100, 'p');  // values that differ only where a table shortens them
    write("c", {{"path", path + "1"}});
    write("d", {{"path", path + "2"}});
    write("a", {{"optimizer", {{"learning_rate", 0.001}, {"beta", {0.9, 0.95}}}}, {"seed", 1}});
    write("b", {{"optimizer", {{"learning_rate", 0.002}, {"beta", {0.9, 0.95}}}}, {"seed", 1}, {"new", "x"}});
    using Rows = std::vector<std::vector<std::string>>;
    const auto differences = [&](const std::vector<std::string>& names) {
        std::vector<std::string> folders;
        for (const std::string& name : names) folders.push_back((folder / name).string());
        return setting_differences(read_runs(folders));
    };
    CHECK(differences({"a", "b"}) ==
          Rows{{"setting", "a", "b"}, {"new", "-", "\"x\""}, {"optimizer.learning_rate", "0.001", "0.002"}});
    CHECK(differences({"a"}) == Rows{{"setting", "a"}});
    CHECK(differences({"c", "d"}) == Rows{{"setting", "c", "d"}, {"path", '"' + path + "1\"", '"' + path + "2\""}});
    CHECK(shortened_rows(differences({"c", "d"}))[1][1].size() == 60);
}

TEST_CASE("a setting that differs in a later phase alone is listed with its phase") {
    const TemporaryFolder folder;
    std::vector<RunHistory> runs;
    for (const std::string name : {"a", "b"}) {
        write_run(folder / name, 1, 5);
        runs.push_back(read_run(folder / name));
        runs.back().parts = {folder / name / "short", folder / name / "long"};
        for (const auto& part : runs.back().parts) {
            std::filesystem::create_directories(part);
            const bool is_other = name == "b" && part.filename() == "long";
            write_text(part / "settings.json", is_other ? R"({"rate": 2, "seed": 1})" : R"({"rate": 1, "seed": 1})");
        }
    }
    using Rows = std::vector<std::vector<std::string>>;
    CHECK(setting_differences(runs) ==
          Rows{{"setting", "a", "b"}, {"long.rate", "-", "2"}, {"rate", "1", "-"}, {"short.rate", "-", "1"}});
}

TEST_CASE("the report's JSON has the table's figures as numbers, and null for what is not known") {
    const TemporaryFolder folder;
    write_run(folder / "a", 2, 10);
    const std::vector<RunHistory> runs = read_runs({(folder / "a").string()});
    ReportChoices choices;
    choices.target = Target::parse("mlm_loss=4.5");
    const nlohmann::ordered_json run = report_json(runs, choices).at("runs").at(0);
    CHECK(run.at("name") == "a");
    CHECK(run.at("ranks") == 2);
    CHECK(run.at("step") == 10);
    CHECK(run.at("total_steps") == 20);
    CHECK(run.at("accelerator_seconds").get<double>() == 2 * run.at("seconds").get<double>());
    CHECK(run.at("target").at("step") == 6);
    CHECK(run.at("held_out_curve").size() == 2);
    CHECK(run.at("held_out_curve").at(1).at("step") == 10);
    CHECK(run.at("held_out_curve").at(1).at("mlm_loss").get<double>() == Approx(4.3));
    choices.target = Target::parse("mlm_loss=0.1");
    CHECK(report_json(runs, choices).at("runs").at(0).at("target").is_null());
}

TEST_CASE("the report's JSON has the settings that differ as values, and null for one that a run does not have") {
    const TemporaryFolder folder;
    for (const char* name : {"a", "b"}) write_run(folder / name, 1, 4);
    write_text(folder / "a/settings.json", R"({"optimizer": {"learning_rate": 0.001}, "path": "x", "list": [1, 2]})");
    write_text(folder / "b/settings.json", R"({"optimizer": {"learning_rate": 0.002}, "path": "y", "flag": true})");
    const auto runs = report_json(read_runs({(folder / "a").string(), (folder / "b").string()}), {}).at("runs");
    CHECK(runs.at(0).at("settings") ==
          nlohmann::ordered_json::parse(R"({"flag": null, "list": [1, 2], "optimizer.learning_rate": 0.001, "path": "x"})"));
    CHECK(runs.at(1).at("settings") ==
          nlohmann::ordered_json::parse(R"({"flag": true, "list": null, "optimizer.learning_rate": 0.002, "path": "y"})"));
}
