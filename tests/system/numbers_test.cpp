// Updates with numbers that are not finite are skipped and never saved, and a run in which they persist ends with exit 6.

#include <cmath>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

bool has_python_torch() { return run_command(WARM_PYTHON " -c 'import torch'").exit_code == 0; }

/// Trains three steps, puts a weight that makes every loss infinite or NaN into the checkpoint, and resumes.
CommandResult go_on_with(const std::string& value, const fs::path& config, const fs::path& run) {
    const CommandResult begun = train(config, run, "--set schedule.total_steps=3");
    check(begun.exit_code == 0, begun.err);
    const CommandResult spoilt = run_command(
        concat(WARM_PYTHON, " tests/system/spoil_weights.py ", (run / "checkpoints/step_00000003").string(), " ", value));
    check(spoilt.exit_code == 0, spoilt.err);
    return train(config, run, "--local-ranks 2 --set batch.global_batch_size=8 --set training.max_skipped_updates=5");
}

std::vector<nlohmann::json> events_of(const fs::path& run, const std::string& name) {
    std::vector<nlohmann::json> events;
    std::istringstream lines(read_text(run / "events.jsonl"));
    for (std::string line; std::getline(lines, line);)
        if (auto event = nlohmann::json::parse(line); event.at("event") == name) events.push_back(std::move(event));
    return events;
}

std::size_t count(const std::string& text, const std::string& words) {
    std::size_t times = 0;
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++times;
    return times;
}

}  // namespace

TEST_CASE("a run that diverges before its first save says so, and the same command with a lower rate starts from the beginning") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 20}, {"warmup_ratio", 0}}},
                                                      {"checkpoint", {{"save_every_steps", 100}}},
                                                      {"optimizer", {{"name", "adamw"}, {"learning_rate", 1e20}}},
                                                      {"training", {{"max_skipped_updates", 3}}}});
    const fs::path run = folder / "run";
    const CommandResult diverged = train(config, run);
    INFO(diverged.err);
    REQUIRE(diverged.exit_code == 6);
    CHECK(diverged.err.find("start the same command again: nothing was saved") != std::string::npos);
    CHECK(diverged.err.find("--resume") == std::string::npos);
    const CommandResult report = run_command(train_program + " report " + run.string());
    CHECK(missing_words(report.out, {" of 20, exit 6: numbers error: step "}) == "");
    const CommandResult again = train(config, run, "--set optimizer.learning_rate=1e-4");
    INFO(again.err);
    CHECK(again.exit_code == 0);
    CHECK(numbers_of(run).front().find("\"step\":1,") != std::string::npos);
    CHECK(run_command(train_program + " report " + run.string()).out.find("exit") == std::string::npos);
}

TEST_CASE("updates that are not finite are skipped, logged once with their rows, and end the run after too many in a row") {
    NEEDS_TRAIN();
    if (!has_python_torch()) SKIP_TEST(skip::no_oracle, "no Python with torch");
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 20}}}}), run = folder / "run";
    const CommandResult result = go_on_with("3e38", config, run);
    INFO(result.err);
    CHECK(result.exit_code == 6);
    CHECK(nlohmann::json::parse(read_text(run / "exit.json")).at("code") == 6);
    CHECK(count(result.err, "the update was skipped") == 5);  // logged by one rank of two
    const auto skipped = events_of(run, "skipped_update");
    REQUIRE(skipped.size() == 5);
    for (const auto& event : skipped) {
        std::size_t rows = 0;
        for (const auto& [file, of_file] : event.at("rows").items()) {
            CHECK(fs::exists(file));
            rows += of_file.size();
        }
        CHECK(rows == 8);
        CHECK(event.at("step").get<std::int64_t>() == 3 + event.at("in_a_row").get<std::int64_t>());
    }
}

TEST_CASE("the first update after a skipped one is as large as the first of a run in which nothing was skipped") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path shards = folder / "shards", run = folder / "run";
    REQUIRE(make_one_batch(shards));  // every step has the same samples
    const fs::path config =
        write_experiment(folder, {{"data", {{"training_shards", shards.string()}}},
                                  {"batch", {{"micro_batch_size", 8}}},
                                  {"model", {{"hidden_dropout_prob", 0}, {"attention_probs_dropout_prob", 0}}},
                                  {"schedule", {{"name", "constant"}, {"warmup_ratio", 0}, {"total_steps", 3}}},
                                  {"evaluation", {{"every_steps", 0}}}});
    REQUIRE(train(config, folder / "undisturbed").exit_code == 0);
    REQUIRE(train(config, run, "--set schedule.total_steps=1 --set optimizer.learning_rate=1e-38").exit_code == 0);
    const CommandResult skipped =
        run_command(concat(WARM_PYTHON, " tests/system/skip_updates.py ", (run / "checkpoints/step_00000001").string()));
    REQUIRE(skipped.err == "");
    const CommandResult resumed = train(config, run, "--set schedule.total_steps=4");
    INFO(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    const auto loss = [](const std::string& line) { return nlohmann::json::parse(line).at("loss").get<double>(); };
    const std::vector<std::string> expected = numbers_of(folder / "undisturbed"), found = numbers_of(run);
    REQUIRE((expected.size() == 3 && found.size() == 4));
    const double gained = loss(expected[0]) - loss(expected[2]);
    REQUIRE(gained > 0.01);
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(loss(found[i + 1]) - loss(expected[i])) < 0.001 * gained);
}

TEST_CASE("a state that is not finite is not saved: the run ends with exit 6, and the last good checkpoint stays the newest") {
    NEEDS_TRAIN();
    if (!has_python_torch()) SKIP_TEST(skip::no_oracle, "no Python with torch");
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 20}}}}), run = folder / "run";
    const CommandResult result = go_on_with("nan", config, run);
    INFO(result.err);
    CHECK(result.exit_code == 6);
    CHECK(missing_words(result.err, {"step 6", "not finite, so they are not saved"}) == "");
    CHECK_FALSE(fs::exists(run / "checkpoints/step_00000006"));
    CHECK(fs::exists(run / "checkpoints/step_00000003/COMPLETE.json"));
}
