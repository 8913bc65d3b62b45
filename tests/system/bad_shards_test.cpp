// For damaged shards `train` names the file and the damage, and ends with exit code 3 before any training.

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/error.h"
#include "support/catch.h"
#include "support/made_once.h"
#include "support/process.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

struct BadShard {
    std::string name;  ///< name of the folder that bad_shards.py makes
    std::vector<std::string> words;
};

const std::string file = "sample_training_0000.h5";

const std::vector<BadShard> bad_shards{
    {"id_too_large", {file, "input_ids[3, 5] is 800", "expected an id from 0 to 799"}},
    {"id_negative", {file, "input_ids[3, 5] is -1", "expected an id from 0 to 799"}},
    {"label_id_too_large", {file, "masked_lm_ids[4, 0] is 2000000000", "expected an id from 0 to 799"}},
    {"mask_with_a_hole", {file, "input_mask[3, 6] is 1", "expected 0"}},
    {"no_token", {file, "input_mask[3, 0] is 0", "expected 1"}},
    {"position_beyond", {file, "masked_lm_positions[3, 0] is 64", "less than 64"}},
    {"segment_of_two", {file, "segment_ids[3, 5] is 2", "expected 0 or 1"}},
    {"label_of_two", {file, "next_sentence_labels[3, 0] is 2", "expected 0"}},
    {"floats", {file, "\"input_ids\"", "integers"}},
    {"a_row_less", {file, "\"next_sentence_labels\" is 555", "556"}},
    {"one_axis", {file, "\"input_ids\""}},
    {"dataset_missing", {file, "\"segment_ids\" is missing"}},
    {"cut_short", {file, "is not a readable HDF5 file", "truncated"}},
    {"cut_short_listed", {file, "the manifest says", "was changed or damaged"}},
    {"text", {file, "is not a readable HDF5 file"}},
    {"text_listed", {file, "the manifest says", "was changed or damaged"}},
    {"empty", {file, "is empty, expected an HDF5 file"}},
    {"byte_flipped", {file, "do: copy or build this shard again"}},
    {"no_held_out", {"no_held_out", "has no held-out rows", "test", "--held-out-fraction"}},
    {"manifest_newer", {"manifest.json", "format_version 9", "newer"}},
    {"manifest_damaged", {"manifest.json", "line 1"}},
    {"other_vocabulary", {"vocab.txt", "is not the vocabulary", "other_vocabulary", "checksum"}},
};

/// Returns a folder with a folder of shards for each of the above, made once; nothing if Python has no h5py.
const fs::path& spoilt_shards() {
    static const fs::path made = made_once("spoilt_shards", [](const fs::path& folder) {
        const CommandResult result =
            run_command(PYTHON " tests/system/bad_shards.py " + sample_data().shards.string() + " " + folder.string());
        INFO(result.err);
        CHECK((result.exit_code == 0 || result.exit_code == 77 || result.exit_code == 127));
        if (result.exit_code == 0) write_text(folder / "complete", "");
    });
    static const fs::path nothing;
    return fs::exists(made / "complete") ? made : nothing;
}

std::string training_on(const std::string& name) { return "--set data.training_shards=" + (spoilt_shards() / name).string(); }

}  // namespace

/// Skips the test if bad_shards.py cannot run.
#define NEEDS_SPOILT_SHARDS() \
    NEEDS_TRAIN();            \
    if (spoilt_shards().empty()) SKIP_TEST(skip::no_oracle, "no Python with h5py")

TEST_CASE("a damaged training shard is refused before any training") {
    NEEDS_SPOILT_SHARDS();
    for (const BadShard& bad : bad_shards) {
        const TemporaryFolder folder;
        const fs::path config = write_experiment(folder);
        check_refused_before_training(train(config, folder / "run", training_on(bad.name)), data_exit, bad.words, bad.name,
                                      folder / "run");
    }
}

TEST_CASE("without evaluation no held-out shards are needed") {
    NEEDS_SPOILT_SHARDS();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"evaluation", {{"every_steps", 0}}}, {"schedule", {{"total_steps", 1}}}});
    CHECK(train(config, folder / "run", training_on("no_held_out")).exit_code == 0);
}

TEST_CASE("a damaged held-out shard is refused before training") {
    NEEDS_SPOILT_SHARDS();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder);
    const CommandResult result = train(config, folder / "run", training_on("held_out_id"));
    check_refusal(result, data_exit, {"sample_test_0000.h5", "input_ids[3, 5] is 800"}, "held_out_id");
    CHECK(!fs::exists(folder / "run/metrics.jsonl"));
    // with an intact held-out shard the same command trains
    const CommandResult repaired = train(
        config, folder / "run", training_on("held_out_id") + " --set data.held_out_shards=" + sample_data().shards.string());
    CHECK(repaired.exit_code == 0);
}

TEST_CASE("evaluate refuses shards that do not fit the checkpoint") {
    NEEDS_SPOILT_SHARDS();
    const std::string evaluate = "OMP_NUM_THREADS=1 " + train_program + " evaluate " + finished_run().run.string() + " --shards ";
    check_refusal(run_command(evaluate + (spoilt_shards() / "held_out_id").string()), data_exit,
                  {"sample_test_0000.h5", "input_ids[3, 5] is 800"}, "held_out_id");
    check_refusal(run_command(evaluate + (spoilt_shards() / "no_held_out").string()), data_exit, {"no_held_out", "test"},
                  "no_held_out");
}

TEST_CASE("a run refuses to resume with shards whose rows were replaced, though no manifest lists them") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path shards = folder / "shards", run = folder / "run";
    fs::copy(sample_data().shards, shards);
    fs::remove(shards / "manifest.json");
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 3}}}});
    const std::string on_these = "--set schedule.total_steps=4 --set data.training_shards=" + shards.string();
    REQUIRE(train(config, run, "--set data.training_shards=" + shards.string()).exit_code == 0);
    const std::string bytes = read_text(shards / "sample_training_0000.h5");
    const CommandResult changed = run_command(python() + " - " + (shards / "sample_training_0000.h5").string() + R"( <<'END'
import sys
import h5py
with h5py.File(sys.argv[1], "r+") as shard:
    shard["input_ids"][2, 3] = 5 if shard["input_ids"][2, 3] != 5 else 6
END)");
    INFO(changed.err);
    REQUIRE(changed.exit_code == 0);
    check_refusal(train(config, run, on_these), 2, {"training data or seed differs", "in the checkpoint"}, "replaced rows");
    write_text(shards / "sample_training_0000.h5", bytes);
    CHECK(train(config, run, on_these).exit_code == 0);
}

TEST_CASE("a shard that becomes unreadable ends a run after its last update is saved") {
    NEEDS_TRAIN();
    const int ranks = GENERATE(1, 2);
    INFO("ranks " << ranks);
    const TemporaryFolder folder;
    const fs::path run = folder / "run", now = folder / "now";
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}},
                                                      {"checkpoint", {{"save_every_steps", 100000}}},
                                                      {"evaluation", {{"every_steps", 0}}}});
    Process process(concat("timeout -s KILL 50 env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_CALL=pread FAULT_DO=fail",
                           " FAULT_FILE=.h5 FAULT_TIMES=1000000 FAULT_WHEN=", now.string(), " ",
                           train_command(config, run, ranks == 1 ? "" : "--local-ranks 2")));
    const auto lines_written = [&] {
        const std::string text = fs::exists(run / "metrics.jsonl") ? read_text(run / "metrics.jsonl") : "";
        return std::count(text.begin(), text.end(), '\n');
    };
    REQUIRE(wait_until(process, [&] { return lines_written() > 3; }));
    write_text(now, "");
    CHECK(process.wait() == 3);
    const std::vector<std::string> lines = numbers_of(run);
    const std::int64_t last = nlohmann::json::parse(lines.back()).at("step");
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "step_%08d", static_cast<int>(last));
    CHECK(fs::exists(run / "checkpoints" / name.data() / "COMPLETE.json"));
    CHECK(nlohmann::json::parse(read_text(run / "exit.json")).at("code") == 3);
    const CommandResult resumed = train(config, run, concat("--set schedule.total_steps=", last + 1));
    CHECK(resumed.exit_code == 0);
    CHECK(missing_words(resumed.err, {concat("going on from step ", last)}) == "");
}
