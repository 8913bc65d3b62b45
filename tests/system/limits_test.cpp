// A run that ends before its last step: at a loss that it was to reach, or within its time or budget.
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Returns the events of a name.
std::vector<json> events_named(const fs::path& run, const std::string& name) {
    std::vector<json> found;
    std::istringstream lines(read_text(run / "events.jsonl"));
    for (std::string line; std::getline(lines, line);)
        if (const json event = json::parse(line); event.at("event") == name) found.push_back(event);
    return found;
}

std::int64_t last_recorded_step(const fs::path& run) {
    return json::parse(numbers_of(run).back()).at("step").get<std::int64_t>();
}

/// Returns the held-out MLM loss of the undisturbed run after `step`.
double held_out_loss(std::int64_t step) {
    for (const std::string& line : numbers_of(finished_run().run))
        if (const json record = json::parse(line); record.at("step") == step && record.contains("held_out_mlm_loss"))
            return record.at("held_out_mlm_loss");
    return -1;
}

std::string stop_at(const std::string& key, double loss) {
    std::ostringstream option;
    option.precision(17);
    option << "--set schedule.stop_at." << key << "=" << loss;
    return option.str();
}

}  // namespace

TEST_CASE("a run that reaches its held-out loss is saved and ends with 0, and started again it stays there") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string target = stop_at("held_out_mlm_loss", held_out_loss(10));
    const CommandResult reached = train(finished_run().config, folder / "run", target);
    INFO(reached.err);
    REQUIRE(reached.exit_code == 0);
    CHECK(missing_words(reached.err, {"reached held_out_mlm_loss", "at step 10", "10 steps before its last"}) == "");
    CHECK(last_recorded_step(folder / "run") == 10);
    CHECK(fs::exists(folder / "run/checkpoints/step_00000010/model.pt"));
    REQUIRE(events_named(folder / "run", "target_reached").size() == 1);
    CHECK(events_named(folder / "run", "target_reached").front().at("step") == 10);

    const auto before = numbers_of(folder / "run");
    REQUIRE(train(finished_run().config, folder / "run", target).exit_code == 0);
    CHECK(numbers_of(folder / "run") == before);

    REQUIRE(train(finished_run().config, folder / "run").exit_code == 0);  // without the target it goes on
    CHECK(first_difference(numbers_of(folder / "run"), numbers_of(finished_run().run)) == "");
}

TEST_CASE("a target that no loss reaches changes nothing, and one that cannot be evaluated is refused") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    REQUIRE(train(finished_run().config, folder / "run", stop_at("held_out_mlm_loss", 0.01) + " " + stop_at("mlm_loss", 0.01))
                .exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "run"), numbers_of(finished_run().run)) == "");
    const CommandResult refused =
        train(finished_run().config, folder / "no", stop_at("held_out_mlm_loss", 5) + " --set evaluation.every_steps=0");
    CHECK(refused.exit_code == 2);
    CHECK(missing_words(refused.err, {"schedule.stop_at.held_out_mlm_loss has no effect with evaluation.every_steps = 0"}) == "");
}

TEST_CASE("a run stops at its smoothed training loss on several ranks, and a resume stops at the same step") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(
        folder, {{"schedule", {{"total_steps", 200}, {"stop_at", {{"mlm_loss", 6.4}}}}}, {"checkpoint", {{"keep_last", 1000}}}});
    REQUIRE(train(config, folder / "one", "--local-ranks 2 --set batch.global_batch_size=8").exit_code == 0);
    const std::int64_t stopped = last_recorded_step(folder / "one");
    INFO("stopped at step " << stopped);
    REQUIRE(stopped >= 100);
    REQUIRE(stopped < 200);
    const auto numbers = numbers_of(folder / "one");
    for (const auto& entry : fs::directory_iterator(folder / "one/checkpoints"))
        if (entry.path().filename().string() > "step_00000099" && !entry.is_symlink()) fs::remove_all(entry.path());
    REQUIRE(train(config, folder / "one", "--local-ranks 2 --set batch.global_batch_size=8").exit_code == 0);
    CHECK(first_difference(numbers_of(folder / "one"), numbers) == "");
}

TEST_CASE("a run stops within its time, its exit record says why, and with more time it finishes as without a limit") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string steps = " --set schedule.total_steps=100000 --set evaluation.every_steps=2";
    const CommandResult stopped = train(finished_run().config, folder / "run", "--deadline 10s --price 3.6" + steps);
    INFO(stopped.err);
    REQUIRE(stopped.exit_code == 0);
    CHECK(missing_words(stopped.err, {"stopped by its limit after step", "--deadline 10.0s", "do: raise the limit",
                                      "forecast: ", "the limit is reached at about step"}) == "");
    const json record = json::parse(read_text(folder / "run/exit.json"));
    CHECK(record.at("code") == 0);
    CHECK(missing_words(record.at("cause"), {"stopped by its limit"}) == "");
    REQUIRE(events_named(folder / "run", "stop").size() == 1);
    const json stop = events_named(folder / "run", "stop").front();
    CHECK(stop.at("elapsed_seconds").get<double>() < 10);
    REQUIRE_FALSE(events_named(folder / "run", "forecast").empty());
    const json forecast = events_named(folder / "run", "forecast").back();
    CHECK(forecast.at("cost").get<double>() == Approx(forecast.at("run_seconds").get<double>() * 0.001));
    CHECK(forecast.at("planned_run_seconds").get<double>() > 0);

    const std::int64_t step = last_recorded_step(folder / "run");
    CHECK(fs::exists(folder / "run/checkpoints" /
                     ("step_" + std::string(8 - std::to_string(step).size(), '0') + std::to_string(step))));
    const CommandResult again = train(finished_run().config, folder / "run", "--deadline 1s" + steps);
    CHECK(again.exit_code == 0);
    CHECK(last_recorded_step(folder / "run") == step);

    const std::string more = " --set evaluation.every_steps=2 --set schedule.total_steps=" + std::to_string(step + 2);
    REQUIRE(train(finished_run().config, folder / "run", "--budget 100USD --price 3" + more).exit_code == 0);
    CHECK(last_recorded_step(folder / "run") == step + 2);
    CHECK_FALSE(fs::exists(folder / "run/exit.json"));
}
