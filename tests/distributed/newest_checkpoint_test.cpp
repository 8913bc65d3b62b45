// All ranks that look for the newest checkpoint of a running run use the same one.

#include "core/error.h"
#include "distributed/ranks.h"
#include "support/catch.h"
#include "support/free_port.h"
#include "support/small_disk.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// A run whose newest checkpoint is of step 18 for rank 0, and of step 20 for the other rank, which looks a moment later.
struct GrowingRun {
    GrowingRun() {
        copy_finished_run(run);
        fs::remove_all(run / "checkpoints/step_00000020");
        fs::remove(run / "checkpoints/best");
        fs::create_directory_symlink("step_00000018", run / "checkpoints/best");
        copy_finished_run(later);  // its best checkpoint is of step 20
    }

    /// Runs the program with `arguments` on two ranks. @returns rank 0's exit code and output
    CommandResult by_two(const std::string& arguments) const {
        const int port = free_port();
        const auto as_rank = [&](int rank) {
            return concat("env OMP_NUM_THREADS=1 RANK=", rank, " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=", port, " ",
                          train_program, " ", arguments);
        };
        const std::string second =
            in_mount_namespace(concat("mount --bind ", later.string(), " ", run.string(), " && exec ", as_rank(1)));
        return run_command(concat(second, " >/dev/null 2>&1 & ", as_rank(0), "; code=$?; wait; exit $code"));
    }

    TemporaryFolder folder;
    fs::path run = folder / "run", later = folder / "later", step = run / "checkpoints/step_00000018",
             best = run / "checkpoints/best";
};

std::string printed(const CommandResult& result) {
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
}

}  // namespace

TEST_CASE("all ranks evaluate the checkpoint that rank 0 finds") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const GrowingRun growing;
    const std::string shards = " --json --shards " + sample_data().shards.string();
    const std::string expected = printed(growing.by_two("evaluate " + growing.step.string() + shards));
    CHECK(missing_words(expected, {"\"step\":18"}) == "");
    CHECK(printed(growing.by_two("evaluate " + growing.run.string() + shards)) == expected);
    CHECK(printed(growing.by_two("evaluate " + growing.best.string() + "/" + shards)) == expected);
    const std::string curve = printed(growing.by_two("evaluate --all " + growing.run.string() + shards));
    CHECK(std::count(curve.begin(), curve.end(), '\n') == 6);
}

TEST_CASE("all ranks embed with the checkpoint that rank 0 finds") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const GrowingRun growing;
    const fs::path text = growing.folder / "text.txt";
    std::string long_line;  // a part of its own, for rank 0
    while (long_line.size() < (std::size_t{5} << 20)) long_line += "river ";
    write_text(text, long_line + "\nThe water is cold.\n");
    const auto vectors = [&](const fs::path& model, const std::string& name) {
        const fs::path file = growing.folder / name;
        printed(growing.by_two("embed " + model.string() + " " + text.string() + " --output " + file.string()));
        return read_text(file);
    };
    const std::string expected = vectors(growing.step, "expected.npy");
    CHECK(expected.size() > 2 * 64 * sizeof(float));
    CHECK((vectors(growing.run, "vectors.npy") == expected));
}

TEST_CASE("all ranks start with the weights that rank 0 finds") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const GrowingRun growing;
    const auto begun_with = [&](const fs::path& weights, const std::string& name) {
        const TemporaryFolder settings;
        const auto config = write_distributed_experiment(
            settings,
            {{"schedule", {{"total_steps", 2}}}, {"initialization", {{"init_from", weights.string()}, {"init_moments", true}}}});
        printed(growing.by_two("train " + config.string() + " --output " + (growing.folder / name).string()));
        return growing.folder / name;
    };
    CHECK(largest_difference(begun_with(growing.step, "expected"), begun_with(growing.run, "begun")) == 0);
}
