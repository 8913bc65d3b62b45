// If a disk is full, fails or vanishes during a save, the run follows checkpoint.on_save_error, and the last good checkpoint
// stays.

#include <cerrno>

#include "core/error.h"
#include "core/files/files.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/small_disk.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;

namespace {

/// Returns the steps of the existing checkpoints, and checks that all their files are intact.
std::vector<std::int64_t> steps_saved(const fs::path& run) {
    std::vector<std::int64_t> steps;
    for (const auto& entry : fs::directory_iterator(run / "checkpoints")) {
        if (entry.is_symlink()) continue;  // the link `best`
        const auto mark = nlohmann::json::parse(read_text(entry.path() / "COMPLETE.json"));
        for (const auto& [name, file] : mark.at("files").items())
            CHECK(bertpretrain::crc32_of_file(entry.path() / name) == file.at("crc32").get<std::uint32_t>());
        steps.push_back(mark.at("step"));
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

/// Calls of the C library on a save's files that fail.
struct Failure {
    std::string call;
    int error, good_before, times;
};

/// Returns a command that runs `train` with failing calls.
CommandResult train_on_failing_disk(const Failure& failure, const fs::path& run, const std::string& options = "") {
    return run_command(concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_FILE=.partial/ FAULT_DO=fail FAULT_CALL=",
                              failure.call, " FAULT_ERROR=", failure.error, " FAULT_AFTER=", failure.good_before,
                              " FAULT_TIMES=", failure.times, " ", train_command(finished_run().config, run, options)));
}

void check_same_end(const fs::path& run) {
    CHECK(first_difference(numbers_of(run), numbers_of(finished_run().run)) == "");
    CHECK((read_text(run / "checkpoints/step_00000020/model.pt") ==
           read_text(finished_run().run / "checkpoints/step_00000020/model.pt")));
}

/// Failures that affect only the first save, and the words of their warnings.
std::pair<Failure, std::string> first_save_failure() {
    using Case = std::pair<Failure, std::string>;
    return GENERATE(Case{{"pwrite", EIO, 0, 1}, "model.pt: cannot be written (Input/output error)"},
                    Case{{"pwrite", ENOSPC, 2, 1}, "cannot be written (No space left on device)"},
                    Case{{"fsync", EIO, 1, 1}, "optimizer.pt: cannot be flushed to the disk (Input/output error)"},
                    Case{{"write", EDQUOT, 0, 1}, "training_state.json: cannot be written (Disk quota exceeded)"});
}

}  // namespace

TEST_CASE("a save that fails is repeated soon, and loses only that checkpoint") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto [failure, words] = first_save_failure();
    const bool background = GENERATE(true, false);
    const CommandResult result =
        train_on_failing_disk(failure, folder / "run", background ? "" : "--set checkpoint.background=false");
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {words, "step 3 is not saved", "the run continues"}) == "");
    CHECK(missing_words(read_text(folder / "run/events.jsonl"), {"save_failed"}) == "");
    std::vector<std::int64_t> steps = steps_saved(folder / "run");
    REQUIRE_FALSE(steps.empty());
    if (background && steps.front() != 6) {  // the failure was noticed before the next save was due
        CHECK((steps.front() == 4 || steps.front() == 5));
        steps.erase(steps.begin());
    }
    CHECK(steps ==
          (background ? std::vector<std::int64_t>{6, 9, 12, 15, 18, 20} : std::vector<std::int64_t>{4, 6, 9, 12, 15, 18, 20}));
    check_same_end(folder / "run");
}

TEST_CASE(
    "with on_save_error stop, a save that fails ends the run with exit 4, and the same command goes on from the one before") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    REQUIRE(train(finished_run().config, run, "--set schedule.total_steps=6").exit_code == 0);
    const CommandResult result = train_on_failing_disk({"fsync", EIO, 1, 1}, run, "--set checkpoint.on_save_error=stop");
    CHECK(result.exit_code == checkpoint_exit);
    CHECK(missing_words(result.err, {"checkpoint error: ", "optimizer.pt: cannot be flushed to the disk (Input/output error)"}) ==
          "");
    CHECK(steps_saved(run) == std::vector<std::int64_t>{3, 6});
    CHECK(train(finished_run().config, run).exit_code == 0);
    CHECK(steps_saved(run) == std::vector<std::int64_t>{3, 6, 9, 12, 15, 18, 20});
}

TEST_CASE("a run whose last save fails ends with exit 4, and the checkpoint before it stays") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    REQUIRE(train(finished_run().config, run, "--set schedule.total_steps=6").exit_code == 0);
    const CommandResult result = train_on_failing_disk({"pwrite", EIO, 0, 1'000'000}, run);
    CHECK(result.exit_code == checkpoint_exit);
    CHECK(missing_words(result.err, {"step 18 is not saved", "the newest good checkpoint is of step 6",
                                     "checkpoint error: ", "model.pt: cannot be written"}) == "");
    CHECK(steps_saved(run) == std::vector<std::int64_t>{3, 6});
}

TEST_CASE("a folder of checkpoints that cannot be listed loses one save at most, and is named") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const int good_before = GENERATE(0, 1, 4, 11);  // in remove_unfinished(), or after the save in prune()
    const CommandResult result = run_command(
        concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_FILE=/checkpoints FAULT_DO=fail FAULT_CALL=readdir",
               " FAULT_ERROR=", EIO, " FAULT_AFTER=", good_before, " ",
               train_command(finished_run().config, folder / "run", "--set checkpoint.keep_last=1")));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"checkpoints: cannot be listed (Input/output error)", "the run continues"}) == "");
    CHECK(steps_saved(folder / "run").back() == 20);
}

TEST_CASE("a folder of checkpoints that cannot be listed is not taken for an empty one when a run resumes") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const CommandResult result =
        run_command(concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_FILE=/checkpoints FAULT_DO=fail",
                           " FAULT_CALL=readdir FAULT_ERROR=", EIO, " ", train_command(finished_run().config, folder / "run")));
    CHECK(result.exit_code == checkpoint_exit);
    CHECK(missing_words(result.err, {"checkpoints: cannot be listed (Input/output error)"}) == "");
    CHECK(steps_saved(folder / "run") == std::vector<std::int64_t>{3, 6, 9, 12, 15, 18, 20});
}

TEST_CASE("a disk that is full for some steps loses no line of the metrics, and stops no run") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result =
        run_command(concat("env LD_PRELOAD=" PROGRAM_FOLDER
                           "/libfault_shim.so FAULT_FILE=/metrics.jsonl FAULT_DO=fail FAULT_CALL=write FAULT_ERROR=",
                           ENOSPC, " FAULT_AFTER=4 FAULT_TIMES=5 ", train_command(finished_run().config, folder / "run")));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"metrics.jsonl: cannot be written (No space left on device); the run continues"}) == "");
    check_same_end(folder / "run");
}

TEST_CASE("on a disk with room for one checkpoint the first stays, and with more room the run resumes to the same end") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    const fs::path run = folder / "disk/run", out = folder / "out";
    fs::create_directories(folder / "disk");
    const std::string command = train_command(finished_run().config, run);
    const CommandResult result = run_command(in_mount_namespace(
        concat("mount -t tmpfs -o size=4500k none ", (folder / "disk").string(), " || exit 99; ", command, " 2>", out.string(),
               ".full; echo exit $?; ls ", run.string(), "/checkpoints; mount -o remount,size=64m ", (folder / "disk").string(),
               "; ", command, " 2>", out.string(), ".roomy; echo exit $?; cp -r ", run.string(), " ", out.string())));
    CHECK(result.out.starts_with("exit 4\nstep_00000003\n"));
    CHECK(missing_words(result.out, {"exit 0"}) == "");
    CHECK(missing_words(read_text(out.string() + ".full"), {"no space", "step 6 is not saved", "checkpoint error: "}) == "");
    CHECK(missing_words(read_text(out.string() + ".roomy"), {"going on from step 3"}) == "");
    check_same_end(out);
}

TEST_CASE(
    "on a disk that is full before checkpoint.keep_last is reached, the oldest make room, and the run ends with its last step") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    const fs::path run = folder / "disk/run", out = folder / "out";
    fs::create_directories(folder / "disk");
    const std::string ranks = GENERATE("", " --local-ranks 2");
    const CommandResult result = run_command(
        in_mount_namespace(concat("mount -t tmpfs -o size=8m none ", (folder / "disk").string(), " || exit 99; ",
                                  train_command(finished_run().config, run, "--set checkpoint.keep_last=5" + ranks), " 2>",
                                  out.string(), ".err; echo exit $?; cp -r ", run.string(), " ", out.string())));
    const std::string messages = read_text(out.string() + ".err");
    INFO(messages);
    CHECK(result.out.ends_with("exit 0\n"));
    CHECK(missing_words(messages, {"the disk cannot hold all checkpoints that the settings keep",
                                   "the disk is full: step_00000003 made room for the checkpoint of step "}) == "");
    CHECK(missing_words(read_text(out / "events.jsonl"), {"checkpoints_deleted_early"}) == "");
    CHECK(missing_words(read_text(out / "events.jsonl"), {"save_failed"}) != "");
    const std::vector<std::int64_t> steps = steps_saved(out);
    CHECK(steps.size() >= 2);
    CHECK(steps.back() == 20);
    if (ranks.empty()) check_same_end(out);
}

TEST_CASE("a disk with no room for a single checkpoint is refused before training") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    const std::string disk = folder.path().string();
    const CommandResult result = run_command(
        in_mount_namespace(concat("cp ", finished_run().config.string(), " /dev/shm/c.$$; mount -t tmpfs -o size=1m none ", disk,
                                  " || exit 99; cp /dev/shm/c.$$ ", disk, "/config.json; rm /dev/shm/c.$$; ",
                                  train_command(disk + "/config.json", disk + "/run"))));
    CHECK(result.exit_code == checkpoint_exit);
    CHECK(missing_words(result.err, {"no space for even one checkpoint", "free now: ", "--output"}) == "");
}

TEST_CASE("when the disk of the checkpoints becomes read-only, the run continues to its end and exits with 4") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    REQUIRE(train(finished_run().config, run, "--set schedule.total_steps=6").exit_code == 0);
    const std::string checkpoints = (run / "checkpoints").string();
    const CommandResult result =
        run_command(in_mount_namespace(concat("mount --bind ", checkpoints, " ", checkpoints, " && mount -o remount,bind,ro ",
                                              checkpoints, " || exit 99; ", train_command(finished_run().config, run))));
    CHECK(result.exit_code == checkpoint_exit);
    CHECK(missing_words(result.err, {"Read-only file system", "step 9 is not saved"}) == "");
    CHECK(steps_saved(run) == std::vector<std::int64_t>{3, 6});
}

TEST_CASE("if checkpoints vanish while a run trains, it logs a warning, and the next save creates the folder again") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    Process process(train_command(finished_run().config, run, "--set schedule.total_steps=200"));
    REQUIRE(wait_until(process, [&] { return fs::exists(run / "checkpoints/step_00000006/COMPLETE.json"); }));
    for (std::error_code filled_again{1, std::generic_category()}; filled_again;)
        fs::remove_all(run / "checkpoints", filled_again);
    CHECK(process.wait() == 0);
    const auto steps = steps_saved(run);
    CHECK(steps.back() == 200);
}

TEST_CASE("a loss chart that cannot be written does not affect the run") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    fs::create_directories(run / "loss.svg/in_the_way");
    const CommandResult result = train(finished_run().config, run);
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"warning: could not draw the loss picture: ", "loss.svg"}) == "");
    check_same_end(run);
}

TEST_CASE("vectors and exports that a full disk cannot hold end with one message and the documented exit code") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    std::string lines;
    for (int line = 0; line < 4000; ++line) lines += "The water is cold.\n";
    write_text(folder / "lines.txt", lines);
    fs::create_directory(folder / "disk");
    const std::string run = finished_run().run.string(), disk = (folder / "disk").string();
    const auto on_small_disk = [&](const std::string& command) {
        return run_command(in_mount_namespace(concat("mount -t tmpfs -o size=300k none ", disk,
                                                     " || exit 99; env OMP_NUM_THREADS=1 ", train_program, " ", command)));
    };
    for (const std::string file : {"v.npy", "v.h5"}) {
        const CommandResult embedded =
            on_small_disk(concat("embed ", run, " ", (folder / "lines.txt").string(), " --output ", disk, "/", file));
        INFO(embedded.err);
        CHECK(embedded.exit_code == data_exit);
        CHECK(missing_words(embedded.err, {"cannot be written (No space left on device)", "do: free disk space"}) == "");
    }
    for (const std::string format : {"torchscript", "state_dict"}) {
        const CommandResult exported = on_small_disk(concat("export ", run, " --format ", format, " --output ", disk, "/m.pt"));
        INFO(exported.err);
        CHECK(exported.exit_code == checkpoint_exit);
        CHECK(missing_words(exported.err, {"No space left on device", "do: free disk space"}) == "");
    }
}
