// The time that a resume takes does not depend on the step.

#include <chrono>

#include "core/files/files.h"
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Copies finished_run()'s checkpoint of step 3 with another step number.
void write_checkpoint_of(std::int64_t step, const fs::path& run) {
    const std::string digits = std::to_string(step);
    const fs::path folder = run / "checkpoints" / ("step_" + std::string(8 - digits.size(), '0') + digits);
    fs::create_directories(folder.parent_path());
    fs::copy(finished_run().run / "checkpoints/step_00000003", folder, fs::copy_options::recursive);
    auto state = nlohmann::json::parse(read_text(folder / "training_state.json"));
    state["step"] = step;
    write_text(folder / "training_state.json", state.dump());
    auto mark = nlohmann::json::parse(read_text(folder / "COMPLETE.json"));
    mark["step"] = step;
    mark["files"]["training_state.json"] = {{"bytes", fs::file_size(folder / "training_state.json")},
                                            {"crc32", bertpretrain::crc32_of_file(folder / "training_state.json")}};
    write_text(folder / "COMPLETE.json", mark.dump());
}

/// Returns the seconds in which a run resumes at `step` and takes one more step.
double seconds_to_go_on(std::int64_t step) {
    const TemporaryFolder folder;
    write_checkpoint_of(step, folder / "run");
    const auto begin = std::chrono::steady_clock::now();
    const CommandResult result =
        train(finished_run().config, folder / "run",
              "--set schedule.total_steps=" + std::to_string(step + 1) + " --set evaluation.every_steps=0");
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"going on from step " + std::to_string(step)}) == "");
    CHECK(nlohmann::json::parse(numbers_of(folder / "run").front()).at("step") == step + 1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("a run resumes from step 1,000,000 as fast as from step 1") {
    NEEDS_TRAIN();
    const double near = seconds_to_go_on(1), far = seconds_to_go_on(1'000'000);
    WARN("seconds from the command to the end of one step: " << near << " at step 1, " << far << " at step 1,000,000");
    CHECK(far < 3 * near + 5);  // even 10 microseconds per skipped step would exceed this
}
