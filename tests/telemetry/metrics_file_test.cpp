#include "telemetry/metrics_file.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <regex>

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/output/log.h"
#include "support/catch.h"
#include "support/files.h"
#include "telemetry/line_file.h"

using namespace bertpretrain;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;

namespace {

StepRecord step_record(std::int64_t step) {
    return {.step = step,
            .samples = step * 384,
            .loss = 0.1 + 0.2,
            .mlm_loss = 1.0 / 3,
            .nsp_loss = 5e-324,
            .mlm_accuracy = 0.25,
            .learning_rate = 1e-4,
            .grad_norm = 1.7976931348623157e308,
            .sequences_per_second = 12.5,
            .tokens_per_second = 1600,
            .model_tflops_per_second = 2.25,
            .step_seconds = 30.72,
            .data_wait_seconds = 0,
            .time = 1000.0 * static_cast<double>(step)};
}

EvaluationRecord evaluation_record(std::int64_t step) {
    return {.step = step,
            .mlm_loss = 2.0 / 3,
            .mlm_accuracy = 0.5,
            .perplexity = std::exp(2.0 / 3),
            .nsp_loss = 0.7,
            .nsp_accuracy = 0.625,
            .sequences = 1000};
}

template <class Record>
std::vector<double> numbers(const Record& record) {
    std::vector<double> all;
    Record::fields(record, [&](const char*, const auto& value) { all.push_back(static_cast<double>(value)); });
    return all;
}

std::vector<std::int64_t> steps_of(const Metrics& metrics) {
    std::vector<std::int64_t> steps;
    for (const StepRecord& record : metrics.steps) steps.push_back(record.step);
    return steps;
}

}  // namespace

TEST_CASE("the numbers of each source are read back exactly, and runs with one source have none") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "metrics.jsonl";
    StepRecord mixed = step_record(2);
    mixed.sources = {{"books", 5, 1.0 / 3, 0.25, true, 0.7, 1000, 1.5},
                     {"a \"quoted\" name", 3, std::nan(""), 0, false, 0, 7, 0.001}};
    {
        MetricsFile metrics(file);
        metrics.append(step_record(1));
        metrics.append(mixed);
        metrics.finish();
    }
    const std::string text = read_text(file);
    CHECK(text.find("sources") > text.find('\n'));
    CHECK_THAT(text, Catch::Contains(R"("sources":{"books":{"sequences":5,"mlm_loss":)"));
    CHECK_THAT(text, Catch::Contains(R"("non_finite":true)"));
    const Metrics read = read_metrics(file);
    REQUIRE(read.steps.size() == 2);
    CHECK(read.steps[0].sources.empty());
    REQUIRE(read.steps[1].sources.size() == 2);
    for (const SourceRecord& written : mixed.sources) {
        const auto& sources = read.steps[1].sources;
        const auto found =
            std::find_if(sources.begin(), sources.end(), [&](const auto& one) { return one.name == written.name; });
        REQUIRE(found != sources.end());
        CHECK(found->epochs == written.epochs);
        CHECK(found->samples == written.samples);
        CHECK(found->next_sentence == written.next_sentence);
        CHECK(found->sequences == written.sequences);
        CHECK((found->mlm_loss == written.mlm_loss || (std::isnan(found->mlm_loss) && std::isnan(written.mlm_loss))));
    }
}

TEST_CASE("a step and an evaluation are one line of JSON each, with the promised keys in order") {
    const TemporaryFolder folder;
    MetricsFile file(folder / "metrics.jsonl");
    file.append(StepRecord{.step = 3, .samples = 48, .loss = 7.5});
    file.append(EvaluationRecord{.step = 3, .mlm_loss = 6.5, .sequences = 20});
    const std::regex chain(R"re(,"chain":"[0-9a-f]{16}"\})re");
    CHECK(
        std::regex_replace(read_text(folder / "metrics.jsonl"), chain, "}") ==
        R"({"step":3,"samples":48,"loss":7.5,"mlm_loss":0.0,"nsp_loss":0.0,"mlm_accuracy":0.0,"learning_rate":0.0,"grad_norm":0.0,)"
        R"("sequences_per_second":0.0,"tokens_per_second":0.0,"model_tflops_per_second":0.0,"mfu":0.0,"step_seconds":0.0,"data_wait_seconds":0.0,)"
        R"("bytes_sent":0.0,"communication_seconds":0.0,"exposed_communication_seconds":0.0,)"
        R"("forward_seconds":0.0,"backward_seconds":0.0,"update_seconds":0.0,"saving_seconds":0.0,"evaluation_seconds":0.0,)"
        R"("device_utilization":0.0,"memory_bytes":0.0,"time":0.0,"elapsed_seconds":0.0})"
        "\n"
        R"({"step":3,"held_out_mlm_loss":6.5,"held_out_mlm_accuracy":0.0,"held_out_perplexity":0.0,"held_out_nsp_loss":0.0,)"
        R"("held_out_nsp_accuracy":0.0,"held_out_sequences":20,"time":0.0,"elapsed_seconds":0.0})"
        "\n");
}

TEST_CASE("an evaluation with a probe has its scores, also after reading; one without has no keys of it") {
    const TemporaryFolder folder;
    MetricsFile file(folder / "metrics.jsonl");
    EvaluationRecord probed = evaluation_record(1);
    probed.probe = ProbeRecord{.accuracy = 0.75, .accuracy_low = 0.5, .macro_f1_high = 0.875, .examples = 12, .seconds = 3};
    file.append(probed);
    file.append(evaluation_record(2));
    const std::string text = read_text(folder / "metrics.jsonl");
    const auto line = nlohmann::json::parse(text.substr(0, text.find('\n')));
    CHECK(line.at("probe_accuracy") == 0.75);
    CHECK(line.at("probe_accuracy_low") == 0.5);
    CHECK(line.at("probe_macro_f1_high") == 0.875);
    CHECK(line.at("probe_examples") == 12);
    CHECK(text.find("probe", text.find('\n')) == std::string::npos);
    const Metrics metrics = read_metrics(folder / "metrics.jsonl");
    REQUIRE(metrics.evaluations.size() == 2);
    CHECK(numbers(metrics.evaluations[0]) == numbers(probed));
    CHECK_FALSE(metrics.evaluations[1].probe);
}

TEST_CASE("an evaluation of several sources has the loss of each, also after reading; another has no such key") {
    const TemporaryFolder folder;
    MetricsFile file(folder / "metrics.jsonl");
    file.append(evaluation_record(1));
    EvaluationRecord mixed = evaluation_record(2);
    mixed.sources = {{"books", 5, 1.0 / 3, 0.25, true, 0.7}, {"news", 3, 4.5, 0, false, 0}};
    file.append(mixed);
    const std::string text = read_text(folder / "metrics.jsonl");
    CHECK(text.find("sources") > text.find('\n'));
    CHECK_THAT(text, Catch::Contains(R"("sources":{"books":{"held_out_sequences":5,"held_out_mlm_loss":0.3333333333333333,)"
                                     R"("held_out_mlm_accuracy":0.25,"held_out_nsp_loss":0.7},"news":{"held_out_sequences":3,)"
                                     R"("held_out_mlm_loss":4.5,"held_out_mlm_accuracy":0.0}})"));
    const Metrics read = read_metrics(folder / "metrics.jsonl");
    REQUIRE(read.evaluations.size() == 2);
    CHECK(numbers(read.evaluations[1]) == numbers(mixed));
    CHECK(read.evaluations[0].sources.empty());
    REQUIRE(read.evaluations[1].sources.size() == 2);
    CHECK(read.evaluations[1].sources[0].name == "books");
    CHECK(read.evaluations[1].sources[0].mlm_loss == 1.0 / 3);
    CHECK(read.evaluations[1].sources[0].sequences == 5);
    CHECK_FALSE(read.evaluations[1].sources[1].next_sentence);
}

TEST_CASE("every number is read back bit for bit") {
    const TemporaryFolder folder;
    MetricsFile file(folder / "metrics.jsonl");
    file.append(step_record(1));
    file.append(evaluation_record(1));
    const Metrics metrics = read_metrics(folder / "metrics.jsonl");
    REQUIRE(metrics.steps.size() == 1);
    REQUIRE(metrics.evaluations.size() == 1);
    CHECK(numbers(metrics.steps[0]) == numbers(step_record(1)));
    CHECK(numbers(metrics.evaluations[0]) == numbers(evaluation_record(1)));
}

TEST_CASE("a non-finite number is null in a line marked non_finite, and is read back as NaN") {
    const TemporaryFolder folder;
    StepRecord record = step_record(1);
    record.loss = std::numeric_limits<double>::quiet_NaN();
    record.grad_norm = std::numeric_limits<double>::infinity();
    MetricsFile file(folder / "metrics.jsonl");
    file.append(record);
    file.append(step_record(2));
    const std::string text = read_text(folder / "metrics.jsonl");
    const auto line = nlohmann::json::parse(text.substr(0, text.find('\n')));
    CHECK(line.at("loss").is_null());
    CHECK(line.at("grad_norm").is_null());
    CHECK(line.at("non_finite") == true);
    CHECK(text.find("non_finite", text.find('\n')) == std::string::npos);
    const Metrics metrics = read_metrics(folder / "metrics.jsonl");
    CHECK(std::isnan(metrics.steps.at(0).loss));
    CHECK(std::isnan(metrics.steps.at(0).grad_norm));
    CHECK(metrics.steps.at(0).mlm_loss == record.mlm_loss);
}

TEST_CASE("a line is in the file before append() returns") {
    const TemporaryFolder folder;
    MetricsFile file(folder / "metrics.jsonl");
    for (std::int64_t step = 1; step <= 3; ++step) {
        file.append(step_record(step));
        CHECK(steps_of(read_metrics(folder / "metrics.jsonl")).size() == static_cast<std::size_t>(step));
    }
}

TEST_CASE("a resumed run removes steps and evaluations after its checkpoint, then appends") {
    const TemporaryFolder folder;
    {
        MetricsFile file(folder / "metrics.jsonl");
        for (std::int64_t step = 1; step <= 6; ++step) {
            file.append(step_record(step));
            if (step % 2 == 0) file.append(evaluation_record(step));
        }
    }
    MetricsFile file(folder / "metrics.jsonl");
    LossHistory kept, rest;
    const CutSteps cut = file.cut_to_step(4, 4, kept);
    CHECK(cut.steps == 2);
    CHECK(cut.time == 6000);
    CHECK(kept.training().size() == 4);
    CHECK(kept.evaluations().size() == 2);
    CHECK(file.cut_to_step(4, 4, rest).steps == 0);
    file.append(step_record(5));
    const Metrics metrics = read_metrics(folder / "metrics.jsonl");
    CHECK(steps_of(metrics) == std::vector<std::int64_t>{1, 2, 3, 4, 5});
    CHECK(metrics.evaluations.size() == 2);
    CHECK_FALSE(std::filesystem::exists(folder / "metrics.jsonl.partial"));
    file.cut_to_step(4, 2, rest);  // step 4 was saved before its evaluation
    CHECK(steps_of(read_metrics(folder / "metrics.jsonl")) == std::vector<std::int64_t>{1, 2, 3, 4});
    CHECK(read_metrics(folder / "metrics.jsonl").evaluations.size() == 1);
    file.cut_to_step(0, 0, rest);
    CHECK(read_text(folder / "metrics.jsonl").empty());
}

TEST_CASE("an incomplete last line of any length is removed when the file is opened") {
    const TemporaryFolder folder;
    for (const std::size_t size : {1U, 100U, 4095U, 4096U, 4097U, 20'000U}) {
        write_text(folder / "metrics.jsonl", "{\"step\":1}\n" + std::string(size, 'x'));
        MetricsFile file(folder / "metrics.jsonl");
        CHECK(read_text(folder / "metrics.jsonl") == "{\"step\":1}\n");
        file.append(step_record(2));
        CHECK(steps_of(read_metrics(folder / "metrics.jsonl")) == std::vector<std::int64_t>{1, 2});
    }
    write_text(folder / "metrics.jsonl", std::string(10'000, 'x'));
    MetricsFile file(folder / "metrics.jsonl");
    CHECK(read_text(folder / "metrics.jsonl").empty());
}

TEST_CASE("damaged lines and an incomplete last line are skipped, and all others are read") {
    const TemporaryFolder folder;
    write_text(folder / "metrics.jsonl",
               "{\"step\":1,\"loss\":2}\nnonsense\n[1]\n{\"loss\":1}\n{\"step\":\"2\"}\n{\"step\":2.5}\n"
               "{\"step\":3,\"loss\":\"x\"}\n\n{\"step\":4}\n{\"step\":5}");
    CHECK(steps_of(read_metrics(folder / "metrics.jsonl")) == std::vector<std::int64_t>{1, 4});
}

TEST_CASE("a line with impossible counts, durations or times is skipped") {
    const TemporaryFolder folder;
    write_text(folder / "metrics.jsonl",
               "{\"step\":-1}\n{\"step\":2,\"samples\":-8}\n{\"step\":3,\"time\":1e300}\n{\"step\":4,\"time\":-1}\n"
               "{\"step\":5,\"step_seconds\":-0.5}\n{\"step\":6,\"samples\":1e300}\n{\"step\":7,\"loss\":-2,\"time\":1.7e9}\n"
               "{\"step\":8,\"held_out_mlm_loss\":1,\"held_out_sequences\":-3}\n");
    CHECK(steps_of(read_metrics(folder / "metrics.jsonl")) == std::vector<std::int64_t>{7});
    CHECK(read_metrics(folder / "metrics.jsonl").evaluations.empty());
}

TEST_CASE("lines are written to regular files only, because a device of that name would drop them") {
    const TemporaryFolder folder;
    std::filesystem::create_symlink("/dev/null", folder / "metrics.jsonl");
    CHECK_THROWS_WITH(MetricsFile(folder / "metrics.jsonl"), Catch::Contains("is not a regular file"));
}

TEST_CASE("metrics that cannot be read or written are a data error") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(read_metrics(folder / "none.jsonl"), DataError);
    CHECK_THROWS_AS(MetricsFile(folder / "no_folder" / "metrics.jsonl"), DataError);
    CHECK_THROWS_AS(MetricsFile(folder.path()), DataError);
}

TEST_CASE("a file that was deleted or replaced while lines are written to it is reported once") {
    const TemporaryFolder folder;
    log_also_to(folder / "log");
    const auto warnings = [&] {
        flush_log(60);
        const std::string log = read_text(folder / "log");
        return std::count(log.begin(), log.end(), '\n') / 2;  // a warning has two lines
    };
    LineFile file(folder / "deleted"), other(folder / "replaced");
    CHECK((file.retry() && warnings() == 0));
    std::filesystem::remove(folder / "deleted");
    CHECK((file.retry() && file.retry() && warnings() == 1));
    write_text(folder / "copy", "");
    std::filesystem::rename(folder / "copy", folder / "replaced");
    CHECK((other.retry() && other.retry() && warnings() == 2));
    CHECK_THAT(read_text(folder / "log"), Catch::Contains("replaced: was replaced while") && Catch::Contains("do: copy /proc/"));

    std::filesystem::create_directory(folder / "run");
    LineFile moved(folder / "run" / "lines");
    std::filesystem::rename(folder / "run", folder / "renamed");
    CHECK((moved.retry() && warnings() == 2));  // the run itself reports this
}

TEST_CASE("lines that a full disk refuses are kept, and written in order when there is space") {
    const TemporaryFolder folder;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto limit_files = [&](rlim_t bytes) {  // fails like a full disk
        const rlimit limit{bytes, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    };
    {
        LineFile file(folder / "lines");
        file.append("first");
        limit_files(9);
        CHECK_NOTHROW(file.append("second"));
        CHECK_NOTHROW(file.append("third"));
        CHECK(read_text(folder / "lines") == "first\n");
        CHECK_FALSE(file.retry());
        CHECK_THROWS_AS(file.append(std::string(LineFile::most_kept, 'x')), DataError);
        limit_files(before.rlim_cur);
    }
    {
        LineFile file(folder / "later");
        limit_files(0);
        file.append("first");
        limit_files(before.rlim_cur);
        CHECK(file.retry());
        CHECK(read_text(folder / "later") == "first\n");
    }
    {
        LineFile file(folder / "others");
        file.append("first");
        limit_files(7);
        file.append("second");
        CHECK_THROWS_WITH(file.finish(), Catch::Contains("the last 1 line(s) could not be written"));
        CHECK_NOTHROW(file.finish());  // reported only once
        limit_files(before.rlim_cur);
    }
    std::signal(SIGXFSZ, handler);
    CHECK(read_text(folder / "others") == "first\n");
    CHECK(read_text(folder / "lines").substr(0, 19) == "first\nsecond\nthird\n");
}
