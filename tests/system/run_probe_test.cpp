// evaluation.probe: a run is judged by a labelled task at every evaluation.
#include <cmath>

#include "support/catch.h"
#include "system/labelled_sentences.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Returns the lines of the run's metrics.jsonl that have a probe, by step.
std::map<std::int64_t, json> probes_of(const fs::path& run) {
    std::map<std::int64_t, json> probes;
    std::istringstream lines(read_text(run / "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);)
        if (const json record = json::parse(line); record.contains("probe_accuracy")) probes[record.at("step")] = record;
    return probes;
}

}  // namespace

TEST_CASE("a run is judged by its task at each evaluation, as evaluate judges its checkpoint, and after a resume again") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::int64_t lines = write_labelled_sentences(folder / "task.tsv");
    const fs::path config = write_experiment(folder, {{"evaluation", {{"probe", (folder / "task.tsv").string()}}}});
    const CommandResult trained = train(config, folder / "run");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    CHECK(missing_words(trained.err, {"held-out step 10", " | probe "}) == "");
    const auto probes = probes_of(folder / "run");
    REQUIRE(probes.size() == 2);
    CHECK(probes.at(10).at("probe_examples") == lines);
    CHECK(probes.at(20).at("probe_seconds").get<double>() > 0);

    const CommandResult judged = run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + (folder / "run").string() +
                                             " --json --probe " + (folder / "task.tsv").string());
    REQUIRE(judged.exit_code == 0);
    // evaluate packs the weights, which changes the order of sums: an example on the border may change sides.
    CHECK(std::fabs(json::parse(judged.out).at("probe").at("accuracy").get<double>() -
                    probes.at(20).at("probe_accuracy").get<double>()) <= 2.0 / static_cast<double>(lines));

    const auto undisturbed = numbers_of(folder / "run");
    fs::remove_all(folder / "run/checkpoints/step_00000020");
    REQUIRE(train(config, folder / "run").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "run"), undisturbed) == "");
}

TEST_CASE("the probe does not change what a run learns, and several ranks share it") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_labelled_sentences(folder / "task.tsv");
    const json probe = {{"evaluation", {{"probe", (folder / "task.tsv").string()}}}};
    const fs::path config = write_experiment(folder, probe);
    REQUIRE(train(config, folder / "three", "--local-ranks 3 --set batch.global_batch_size=8").exit_code == 0);
    const auto probes = probes_of(folder / "three");
    REQUIRE(probes.size() == 2);
    std::vector<std::string> without;
    for (const std::string& line : numbers_of(folder / "three")) {
        auto record = nlohmann::ordered_json::parse(line);
        for (const char* key :
             {"accuracy", "accuracy_low", "accuracy_high", "macro_f1", "macro_f1_low", "macro_f1_high", "examples"})
            record.erase(std::string("probe_") + key);
        without.push_back(record.dump());
    }
    CHECK(largest_difference(without, numbers_of(finished_run().run)) < 1e-5);
}

TEST_CASE("a task that cannot be one is refused before the first step, on all ranks with one message") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "task.tsv", "no tab here\n");
    const fs::path config = write_experiment(folder, {{"evaluation", {{"probe", (folder / "task.tsv").string()}}}});
    for (const char* ranks : {"", "--local-ranks 2"}) {
        const CommandResult refused = train(config, folder / "run", ranks);
        CHECK(refused.exit_code == 3);
        CHECK(missing_words(refused.err, {"task.tsv: line 1: has no tab; expected a label, a tab and a text"}) == "");
        CHECK_FALSE(fs::exists(folder / "run/metrics.jsonl"));
    }
    const CommandResult never = train(config, folder / "run", "--set evaluation.every_steps=0");
    CHECK(never.exit_code == 2);
    CHECK(missing_words(never.err, {"evaluation.probe has no effect with evaluation.every_steps = 0"}) == "");
}
