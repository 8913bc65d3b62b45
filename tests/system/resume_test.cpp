// Resuming: from which checkpoint, and with which changed settings.

#include <algorithm>
#include <tuple>

#include "core/files/files.h"
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

void flip_byte(const fs::path& file) {
    std::string content = read_text(file);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    write_text(file, content);
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// Changes a number in a checkpoint and fixes its checksums.
void say_in_progress(const fs::path& checkpoint, const std::string& key, const nlohmann::json& value) {
    const fs::path file = checkpoint / "training_state.json", marked = checkpoint / "COMPLETE.json";
    auto progress = nlohmann::json::parse(read_text(file)), mark = nlohmann::json::parse(read_text(marked));
    progress[key] = value;
    write_text(file, progress.dump());
    mark["files"]["training_state.json"] = {{"bytes", fs::file_size(file)}, {"crc32", bertpretrain::crc32_of_file(file)}};
    write_text(marked, mark.dump());
}

/// Copies the finished run as it was after step 18.
fs::path run_until_18(const TemporaryFolder& folder) {
    copy_finished_run(folder / "run");
    fs::remove_all(folder / "run/checkpoints/step_00000020");
    return folder / "run";
}

/// Checks that the run resumes from step 15 with a warning, because the checkpoint of step 18 is damaged.
void check_goes_on_from_15(const fs::path& run, const std::string& damaged) {
    const CommandResult result = train(finished_run().config, run);
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"warning: ", "step_00000018", damaged, "going on from step 15"}) == "");
    CHECK(first_difference(numbers_of(run), numbers_of(finished_run().run)) == "");
}

/// Checks that the command is refused and the run unchanged.
void check_refused(const fs::path& run, const std::string& options, int exit_code, const std::vector<std::string>& words) {
    const auto before = files_of(run);
    const CommandResult result = train(finished_run().config, run, options);
    INFO(options);
    CHECK(result.exit_code == exit_code);
    CHECK(result.out.empty());
    CHECK(missing_words(result.err, words) == "");
    CHECK((files_of(run) == before));
}

}  // namespace

TEST_CASE("a damaged newest checkpoint is named in a warning, and the one before it is used") {
    NEEDS_TRAIN();
    for (const std::string file : {"model.pt", "optimizer.pt"}) {
        const TemporaryFolder folder;
        const fs::path run = run_until_18(folder);
        flip_byte(run / "checkpoints/step_00000018" / file);
        check_goes_on_from_15(run, file);
    }
}

TEST_CASE("a checkpoint that is truncated or lacks a file is named in a warning too") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = run_until_18(folder);
    fs::resize_file(run / "checkpoints/step_00000018/model.pt", 1000);
    check_goes_on_from_15(run, "model.pt");
    fs::remove_all(run / "checkpoints/step_00000020");
    fs::remove(run / "checkpoints/step_00000018/training_state.json");
    check_goes_on_from_15(run, "training_state.json");
}

TEST_CASE("a run that resumes from before a damaged checkpoint keeps its own new one, and sets the damaged one aside") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run", checkpoints = run / "checkpoints";
    copy_finished_run(run);
    for (const std::string step : {"03", "06", "09", "12", "18"}) fs::remove_all(checkpoints / ("step_000000" + step));
    flip_byte(checkpoints / "step_00000020/model.pt");
    const CommandResult result =
        train(finished_run().config, run,
              "--set checkpoint.keep_last=1 --set checkpoint.keep_best=false --set schedule.total_steps=17");
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"going on from step 15", "step_00000020/model.pt: damaged",
                                     "A save of this step replaces it", "damaged_step_00000020"}) == "");
    CHECK(names_in(checkpoints) == std::vector<std::string>{"damaged_step_00000020", "step_00000017"});
    CHECK(train(finished_run().config, run, "--set schedule.total_steps=18").exit_code == 0);
}

TEST_CASE("if every checkpoint is damaged, the run does not start from scratch and no file is lost") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    fs::remove(folder / "run/checkpoints/best");  // a link to one of them
    for (const auto& entry : fs::directory_iterator(folder / "run/checkpoints")) flip_byte(entry.path() / "model.pt");
    check_refused(folder / "run", "", 4, {"checkpoint error: ", "step_00000020", "model.pt"});
    for (const auto& entry : fs::directory_iterator(folder / "run/checkpoints")) fs::resize_file(entry.path() / "model.pt", 1000);
    check_refused(folder / "run", "", 4, {"checkpoint error: ", "step_00000020", "model.pt"});
}

TEST_CASE("a run resumes from the requested step") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const CommandResult result = train(finished_run().config, folder / "run", "--resume 6");
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"going on from step 6 "}) == "");
    CHECK(first_difference(numbers_of(folder / "run"), numbers_of(finished_run().run)) == "");
}

TEST_CASE("a run that resumes from an older step sets the later checkpoints aside, and ignores them from then on") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run", checkpoints = run / "checkpoints";
    copy_finished_run(run);
    flip_byte(checkpoints / "step_00000015/model.pt");
    fs::create_directory(checkpoints / "abandoned_after_00000006");
    write_text(checkpoints / "abandoned_after_00000006/notes", "of an earlier time");
    const std::string few = " --set checkpoint.keep_last=2 --set schedule.total_steps=";
    const CommandResult away = train(finished_run().config, run, "--resume 6" + few + "9");
    CHECK(away.exit_code == 0);
    const std::string aside = "abandoned_after_00000006.2";
    CHECK(missing_words(away.err, {"the checkpoints of later steps were moved to ", aside}) == "");
    CHECK(names_in(checkpoints) ==
          std::vector<std::string>{"abandoned_after_00000006", aside, "best", "step_00000006", "step_00000009"});
    CHECK(fs::read_symlink(checkpoints / "best") == "step_00000009");
    CHECK(names_in(checkpoints / aside) ==
          std::vector<std::string>{"step_00000009", "step_00000012", "step_00000015", "step_00000018", "step_00000020"});
    CHECK(read_text(checkpoints / "abandoned_after_00000006/notes") == "of an earlier time");
    const CommandResult on = train(finished_run().config, run, few + "12");
    CHECK(on.exit_code == 0);
    CHECK(missing_words(on.err, {"going on from step 9 "}) == "");
    CHECK(on.err.find("moved to") == std::string::npos);
}

TEST_CASE("a checkpoint with impossible numbers and correct checksums is refused with file and key") {
    NEEDS_TRAIN();
    using nlohmann::json;
    for (const auto& [key, value, expected] :
         std::vector<std::tuple<std::string, json, std::string>>{{"global_batch_sequences", "eight", "at least 1"},
                                                                 {"data_fingerprint", 3, "a string"},
                                                                 {"kernels", json::array(), "a string"},
                                                                 {"skipped_updates", -1, "at least 0"},
                                                                 {"device_micro_batch", 1.5, "at least 1"}}) {
        const TemporaryFolder folder;
        copy_finished_run(folder / "run");
        say_in_progress(folder / "run/checkpoints/step_00000020", key, value);
        check_refused(folder / "run", "", 4,
                      {"checkpoint error: ", "training_state.json", "\"" + key + "\" is " + value.dump(), expected});
    }
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    say_in_progress(folder / "run/checkpoints/step_00000020", "casing", true);
    const CommandResult result =
        run_command(train_program + " evaluate " + (folder / "run").string() + " --shards " + sample_data().shards.string());
    CHECK(result.exit_code == 4);
    CHECK(missing_words(result.err, {"training_state.json", "\"casing\" is true", "a string"}) == "");
}

TEST_CASE("after an attempt has applied --resume, a launcher's restart resumes from the newest checkpoint") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const auto start = [&](int attempt, const std::string& options, const std::string& where) {
        fs::remove(run / "exit.json");
        const CommandResult result = run_command("env RANK=0 WORLD_SIZE=1 TORCHELASTIC_RESTART_COUNT=" + std::to_string(attempt) +
                                                 " " + train_command(finished_run().config, run, options));
        INFO(options);
        CHECK(missing_words(result.err, {where}) == "");
        return result.exit_code;
    };
    CHECK(start(0, "--resume never --set schedule.total_steps=6", "fresh start") == 0);
    CHECK(start(1, "--resume never --set schedule.total_steps=9", "going on from step 6 ") == 0);
    CHECK(start(0, "--resume never --set schedule.total_steps=9", "holds checkpoints of an earlier run") == 2);
    CHECK(start(1, "--resume 3 --set schedule.total_steps=9", "going on from step 3 ") == 0);  // no attempt has applied it yet
    CHECK(start(2, "--resume 3 --set schedule.total_steps=12", "going on from step 9 ") == 0);
    CHECK(start(0, "--resume 3 --set schedule.total_steps=6", "going on from step 3 ") == 0);  // attempt 0 applies it again
    CHECK(start(1, "--resume never --set schedule.total_steps=9", "holds checkpoints of an earlier run") == 2);
}

TEST_CASE("a step without a checkpoint is refused with a list of the steps that have one") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    check_refused(folder / "run", "--resume 7", 4, {"checkpoint error: ", "step 7", "3, 6, 9, 12, 15, 18, 20"});
}

TEST_CASE("a fresh start is refused in a folder with checkpoints") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    check_refused(folder / "run", "--resume never", 2, {"config error: ", "step_00000020", "--resume auto", "--output"});
}

TEST_CASE("a changed setting that would make another run is refused with both values") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    check_refused(folder / "run", "--set training.seed=8", 2, {"training.seed", "7 in the checkpoint", "8 now"});
    check_refused(folder / "run", "--set model.hidden_size=128", 2, {"model.hidden_size", "64 in the checkpoint", "128 now"});
    check_refused(folder / "run", "--resume 6 --set training.seed=8", 2, {"training.seed", "7 in the checkpoint", "8 now"});
    check_refused(folder / "run", "--set batch.gradient_accumulation_steps=5", 2,
                  {"batch.global_batch_size", "8 in the checkpoint", "20 now"});
    check_refused(
        folder / "run", "--set training.precision=bf16 --set optimizer.name=lans", 2,
        {"training.precision", "\"fp32\" in the checkpoint", "\"bf16\" now", "\"adamw\" in the checkpoint", "\"lans\" now"});
}

TEST_CASE("other training data is refused in words, before any fingerprint") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    fs::copy(sample_data().shards, folder / "shards");
    fs::remove(folder / "shards/sample_training_0001.h5");
    fs::remove(folder / "shards/manifest.json");
    check_refused(folder / "run", "--set data.training_shards=" + (folder / "shards").string(), 2,
                  {"\n  training data or seed differs from the checkpoint's: "});
}

TEST_CASE("the global batch may be given as the number that the run has, and as no other, as config explain says") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    CHECK(missing_words(run_command(train_program + " config explain batch.global_batch_size").out, {"fixed on resume"}) == "");
    CHECK(train(finished_run().config, folder / "run", "--set batch.global_batch_size=8").exit_code == 0);
    check_refused(folder / "run", "--set batch.global_batch_size=16", 2,
                  {"batch.global_batch_size: 8 in the checkpoint, 16 now"});
}

TEST_CASE("a run resumes with the same global batch in other micro-batches") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = run_until_18(folder);
    const CommandResult result =
        train(finished_run().config, run, "--set batch.micro_batch_size=8 --set batch.gradient_accumulation_steps=1");
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(numbers_of(run).size() == numbers_of(finished_run().run).size());
}

TEST_CASE("a run resumed with more steps equals one that was started with as many") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(
        folder,
        {{"schedule", {{"name", "constant"}, {"warmup_ratio", 0}, {"total_steps", 12}}}, {"evaluation", {{"every_steps", 0}}}});
    REQUIRE(train(config, folder / "whole").exit_code == 0);
    REQUIRE(train(config, folder / "run", "--set schedule.total_steps=7").exit_code == 0);
    CHECK(numbers_of(folder / "run").size() == 7);
    const CommandResult longer = train(config, folder / "run");
    CHECK(longer.exit_code == 0);
    CHECK(missing_words(longer.err, {"going on from step 7"}) == "");
    CHECK(first_difference(numbers_of(folder / "run"), numbers_of(folder / "whole")) == "");
}

TEST_CASE("a complete run that is started with other settings keeps its own in its folder, and says that none was used") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const fs::path settings = folder / "run/settings.json", plan = folder / "run/plan.json", events = folder / "run/events.jsonl";
    const std::string settings_before = read_text(settings), plan_before = read_text(plan);
    const CommandResult other =
        train(finished_run().config, folder / "run", "--set optimizer.learning_rate=0.25 --set schedule.total_steps=10");
    CHECK(other.exit_code == 0);
    CHECK(missing_words(other.err, {"the run is complete at step 20", "no step of it was trained with these settings",
                                    "optimizer.learning_rate: ", "0.25 now", "schedule.total_steps: 20 in the checkpoint, 10 now",
                                    "--output"}) == "");
    CHECK(missing_words(other.out, {"complete: 20 steps; to train on, raise schedule.total_steps"}) == "");
    CHECK((read_text(settings) == settings_before));
    CHECK((read_text(plan) == plan_before));
    CHECK(read_text(events).find(R"("event":"resume")") == std::string::npos);
    const CommandResult same = train(finished_run().config, folder / "run");
    CHECK(missing_words(same.out, {"complete: all 20 steps"}) == "");
    CHECK(same.err.find("warning: the run is complete") == std::string::npos);
}

TEST_CASE("a run that resumes with other settings logs which, and from which step on") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const CommandResult longer = train(finished_run().config, folder / "run", "--set schedule.total_steps=22");
    CHECK(longer.exit_code == 0);
    CHECK(missing_words(longer.err,
                        {"settings that change from step 21 on:", "schedule.total_steps: 20 in the checkpoint, 22 now"}) == "");
    CHECK(nlohmann::json::parse(read_text(folder / "run/settings.json")).at("schedule").at("total_steps") == 22);
}

TEST_CASE(
    "a complete run that is started again makes up for a missing evaluation, as a start of its own, and restores lost settings") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 2}}}, {"evaluation", {{"every_steps", 0}}}});
    REQUIRE(train(config, run).exit_code == 0);
    const std::string settings = read_text(run / "settings.json");
    REQUIRE(train(config, run, "--set evaluation.every_steps=1").exit_code == 0);
    CHECK(read_text(run / "events.jsonl").find(R"("event":"resume","step":2)") != std::string::npos);
    CHECK(read_text(run / "settings.json") == settings);
    const CommandResult report = run_command(train_program + " report --json " + run.string());
    CHECK(nlohmann::json::parse(report.out).at("runs").at(0).at("held_out_rows").size() == 1);
    fs::remove(run / "settings.json");
    fs::remove(run / "plan.json");
    REQUIRE(train(config, run, "--set optimizer.learning_rate=0.25").exit_code == 0);
    CHECK((nlohmann::json::parse(read_text(run / "settings.json")) == nlohmann::json::parse(settings)));
    CHECK(fs::exists(run / "plan.json"));
}

TEST_CASE("a run that is cut back to an earlier step by --resume records its new end") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const CommandResult cut = train(finished_run().config, folder / "run", "--resume 15 --set schedule.total_steps=15");
    INFO(cut.err);
    CHECK(cut.exit_code == 0);
    CHECK(nlohmann::json::parse(read_text(folder / "run/settings.json")).at("schedule").at("total_steps") == 15);
    CHECK(read_text(folder / "run/events.jsonl").find(R"("event":"resume","step":15)") != std::string::npos);
    CHECK(numbers_of(folder / "run").size() < numbers_of(finished_run().run).size());
}
