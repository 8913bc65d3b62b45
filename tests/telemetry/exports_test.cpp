// TensorBoard and Prometheus files, as their own readers parse them.
#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"
#include "telemetry/prometheus_file.h"
#include "telemetry/tensorboard_file.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;

namespace {

json read_by_others(const std::filesystem::path& path) {
    const CommandResult result = run_command(concat(PYTHON, " tests/telemetry/read_exports.py ", path.string()));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
}

#define NEEDS_READER(read) \
    if ((read).contains("missing")) SKIP_TEST(skip::no_oracle, (read)["missing"].dump())

StepRecord step_record(std::int64_t step, double loss) {
    StepRecord record{.step = step, .samples = 16 * step, .loss = loss, .mlm_loss = loss - 0.5, .learning_rate = 1e-4};
    record.time = 1.7e9 + static_cast<double>(step);
    return record;
}

}  // namespace

TEST_CASE("TensorBoard's reader finds every number of every step and evaluation") {
    const TemporaryFolder folder;
    {
        TensorboardFile file(folder / "tensorboard");
        CHECK_FALSE(std::filesystem::exists(folder / "tensorboard"));  // nothing before the first record
        for (std::int64_t step = 1; step <= 300; ++step) file.append(step_record(step, 1.0 / static_cast<double>(step)));
        file.append(EvaluationRecord{
            .step = 300, .mlm_loss = 2.5, .sequences = 7, .time = 1.7e9 + 301, .sources = {{.name = "wiki", .mlm_loss = 2.25}}});
    }
    const json read = read_by_others(folder / "tensorboard");
    NEEDS_READER(read);
    const StepRecord any_record;
    StepRecord::fields(any_record, [&](const std::string& key, const auto&) {
        if (key != "step" && key != "time" && key != "elapsed_seconds") CHECK(read.at("train/" + key).size() == 300);
    });
    CHECK(read.at("train/loss")[299][0] == 300);
    CHECK(read.at("train/loss")[299][1].get<double>() == Approx(1.0 / 300));
    CHECK(read.at("train/samples")[299][1] == 4800);
    CHECK(read.at("train/loss")[299][2] == 1.7e9 + 300);
    CHECK(read.at("held_out/mlm_loss")[0][1] == 2.5);
    CHECK(read.at("held_out/sequences")[0][1] == 7);
    CHECK(read.at("sources/wiki/held_out_mlm_loss")[0][1] == 2.25);
}

TEST_CASE("TensorBoard shows repeated steps once") {
    const TemporaryFolder folder;
    {
        TensorboardFile file(folder.path());
        for (std::int64_t step = 1; step <= 6; ++step) file.append(step_record(step, 1));
    }
    {
        TensorboardFile file(folder.path());
        file.cut_to_step(4);
        StepRecord again = step_record(5, 2);
        again.time += 10;  // TensorBoard reads a folder's files in the order of their names, which start with the time
        file.append(again);
    }
    const json read = read_by_others(folder.path());
    NEEDS_READER(read);
    const json& losses = read.at("train/loss");
    REQUIRE(losses.size() == 5);
    CHECK(losses[3] == json({4, 1.0, 1.7e9 + 4}));
    CHECK(losses[4] == json({5, 2.0, 1.7e9 + 15}));
}

TEST_CASE("prometheus_client's parser finds the last numbers, including non-finite ones") {
    const TemporaryFolder folder;
    const auto file = folder / "metrics.prom";
    PrometheusFile prometheus(file, "a \"quoted\" \\ run", 20);
    StepRecord record = step_record(3, 2.25);
    record.grad_norm = std::numeric_limits<double>::infinity();
    record.nsp_loss = std::numeric_limits<double>::quiet_NaN();
    prometheus.show(EvaluationRecord{.step = 2, .mlm_loss = 2.5});
    prometheus.show(SaveRecord{2, 12.5, 1.7e9 + 2});
    prometheus.show(record);
    const json read = read_by_others(file);
    NEEDS_READER(read);
    CHECK(read.at("bertpretrain_loss")[0] == "2.25");
    CHECK(read.at("bertpretrain_loss")[1].at("run") == "a \"quoted\" \\ run");
    CHECK(read.at("bertpretrain_loss")[2] == "gauge");
    CHECK(read.at("bertpretrain_loss")[3] == true);
    CHECK(read.at("bertpretrain_grad_norm")[0] == "inf");
    CHECK(read.at("bertpretrain_nsp_loss")[0] == "nan");
    CHECK(read.at("bertpretrain_held_out_mlm_loss")[0] == "2.5");
    CHECK(read.at("bertpretrain_held_out_step")[0] == "2.0");
    CHECK(read.at("bertpretrain_total_steps")[0] == "20.0");
    CHECK(read.at("bertpretrain_last_step_timestamp_seconds")[0] == "1700000003.0");
    CHECK(read.at("bertpretrain_checkpoint_step")[0] == "2.0");
    CHECK(read.at("bertpretrain_checkpoint_seconds")[0] == "12.5");
    CHECK(read.at("bertpretrain_last_checkpoint_timestamp_seconds")[0] == "1700000002.0");
    CHECK(read.at("bertpretrain_ended")[0] == "0.0");
    CHECK(read.size() == 37);
    prometheus.show_end();
    prometheus.finish();
    CHECK(read_by_others(file).at("bertpretrain_ended")[0] == "1.0");
}

TEST_CASE("Prometheus has a value for each source of text, from the last step with samples of it") {
    const TemporaryFolder folder;
    const auto file = folder / "metrics.prom";
    PrometheusFile prometheus(file, "r", 20);
    StepRecord record = step_record(1, 2.25);
    record.sources = {{.name = "books", .mlm_loss = 3.5}, {.name = "a \"wiki\"", .mlm_loss = 2.5}};
    prometheus.show(record);
    record = step_record(2, 2);
    record.sources = {{.name = "books", .mlm_loss = 3}};
    prometheus.show(record);
    prometheus.show(EvaluationRecord{
        .step = 2, .mlm_loss = 4, .sources = {{.name = "books", .mlm_loss = 4.5}, {.name = "a \"wiki\"", .mlm_loss = 3.25}}});
    prometheus.finish();
    CHECK(read_text(file).find("# TYPE bertpretrain_source_held_out_mlm_loss gauge\n"
                               "bertpretrain_source_held_out_mlm_loss{run=\"r\",source=\"books\"} 4.5\n"
                               "bertpretrain_source_held_out_mlm_loss{run=\"r\",source=\"a \\\"wiki\\\"\"} 3.25\n") !=
          std::string::npos);
    CHECK(read_text(file).find("# TYPE bertpretrain_source_mlm_loss gauge\n"
                               "bertpretrain_source_mlm_loss{run=\"r\",source=\"a \\\"wiki\\\"\"} 2.5\n"
                               "bertpretrain_source_mlm_loss{run=\"r\",source=\"books\"} 3\n# HELP") != std::string::npos);
    const json read = read_by_others(file);
    NEEDS_READER(read);
    CHECK(read.contains("bertpretrain_source_epochs"));
}

TEST_CASE("the Prometheus file is written at the first step, at most every ten seconds, and at the end") {
    const TemporaryFolder folder;
    const auto file = folder / "metrics.prom";
    const auto shows = [&](const std::string& step) {
        return read_text(file).find("bertpretrain_step{run=\"r\"} " + step + "\n") != std::string::npos;
    };
    {
        double seconds = 100;
        PrometheusFile prometheus(file, "r", 20, [&] { return ++seconds; });
        for (std::int64_t step = 1; step <= 14; ++step) {
            StepRecord record = step_record(step, 1);
            if (step > 5) record.time -= 3600;  // the system clock was set back
            prometheus.show(record);
            CHECK(shows(step < 11 ? "1" : "11"));
        }
    }
    CHECK(shows("14"));
    CHECK_FALSE(std::filesystem::exists(folder / "metrics.prom.partial"));
}

TEST_CASE("a run whose name is not UTF-8 or contains control characters has a label that Prometheus accepts") {
    const TemporaryFolder folder;
    const auto file = folder / "metrics.prom";
    PrometheusFile prometheus(file, "a\x1b[31m\xff\xc3\xa9", 20);
    prometheus.show(step_record(3, 2.25));
    const json read = read_by_others(file);
    NEEDS_READER(read);
    CHECK(read.at("bertpretrain_loss")[1].at("run") == "a\\x1b[31m\\xff\xc3\xa9");
}

TEST_CASE("a start after the clock was set back writes a TensorBoard file whose name sorts after those of earlier starts") {
    const TemporaryFolder folder;
    const auto names = [&] {
        std::vector<std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            all.push_back(entry.path().filename().string());
        std::sort(all.begin(), all.end());
        return all;
    };
    TensorboardFile(folder.path()).append(step_record(1, 1));
    const std::string first = names().front();
    StepRecord later = step_record(2, 1);
    later.time -= 3600;
    TensorboardFile(folder.path()).append(later);
    REQUIRE(names().size() == 2);
    CHECK(names().front() == first);
}

TEST_CASE("a run continues if its TensorBoard and Prometheus files cannot be written, and writes them again when that works") {
    const TemporaryFolder folder;
    write_text(folder / "file", "");
    double seconds = 100;
    TensorboardFile tensorboard(folder / "file/tensorboard");
    PrometheusFile prometheus(folder / "file/metrics.prom", "r", 20, [&] { return seconds; });
    const auto show = [&](std::int64_t step) {
        StepRecord record = step_record(step, 1);
        record.time = 1e9 + seconds;
        CHECK_NOTHROW(tensorboard.append(record));
        CHECK_NOTHROW(prometheus.show(record));
    };
    for (std::int64_t step = 1; step <= 3; ++step) show(step);
    std::filesystem::remove(folder / "file");
    std::filesystem::create_directory(folder / "file");
    show(4);  // too soon for another attempt
    CHECK(std::filesystem::is_empty(folder / "file"));
    seconds += 70;
    show(5);
    CHECK(read_text(folder / "file/metrics.prom").find("bertpretrain_step{run=\"r\"} 5\n") != std::string::npos);
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "file/tensorboard"), {}) == 1);
}
