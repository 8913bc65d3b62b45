// ZeRO reduces each rank's memory.
#include "core/error.h"
#include "distributed/ranks.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Returns the peak resident memory of a process, in bytes.
double peak_bytes(pid_t pid) {
    std::istringstream lines(read_text(concat("/proc/", pid, "/status")));
    for (std::string line; std::getline(lines, line);)
        if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) * 1024;
    return 0;
}

/// Returns the maximum over the ranks of a run after some steps, in MiB.
double peak_of_a_rank(const fs::path& config, const fs::path& run, int ranks, int zero_stage) {
    Process process(train_command(config, run, concat("--local-ranks ", ranks, " --set parallel.zero_stage=", zero_stage)));
    REQUIRE(wait_until(process, [&] { return last_step(run) >= 3; }));
    double most = 0;
    for (const pid_t rank : children_of(process.pid())) most = std::max(most, peak_bytes(rank));
    process.send(SIGKILL);
    return most / 0x1p20;
}

}  // namespace

TEST_CASE("each of W ranks holds 1/W of the master weights and moments") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(
        folder,
        {{"model", {{"hidden_size", 768}, {"num_attention_heads", 12}, {"intermediate_size", 3072}, {"num_hidden_layers", 6}}},
         {"batch", {{"global_batch_size", 4}, {"micro_batch_size", 1}}},
         {"training", {{"precision", "bf16"}}},
         {"schedule", {{"total_steps", 100000}}},
         {"checkpoint", {{"save_every_steps", 0}}},
         {"evaluation", {{"every_steps", 0}}},
         {"parallel", {{"bucket_mib", 8}}}});
    // Compared with a run of equally many ranks that each hold everything: memory for communication (buckets, Gloo's copies) is
    // in both.
    constexpr double parameters = 43.8e6;
    const double alone = peak_of_a_rank(config, folder / "alone", 1, 1);
    for (const int ranks : {2, 4}) {
        const double whole = peak_of_a_rank(config, folder / concat("whole_", ranks), ranks, 0);
        const double sliced = peak_of_a_rank(config, folder / concat("sliced_", ranks), ranks, 1);
        const double saved = (whole - sliced) * 0x1p20 / parameters, expected = 12.0 * (ranks - 1) / ranks;
        WARN("peak of a rank, MiB: alone " << alone << ", one of " << ranks << " " << whole << " at stage 0, " << sliced
                                           << " at stage 1; bytes per parameter saved: " << saved << " (" << expected
                                           << " expected)");
        CHECK(saved == Approx(expected).margin(1.2));
    }
}

TEST_CASE("a model as wide as 5B trains on four ranks") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(
        folder,
        {{"model", {{"hidden_size", 2560}, {"num_attention_heads", 40}, {"intermediate_size", 10240}, {"num_hidden_layers", 2}}},
         {"batch", {{"global_batch_size", 4}, {"micro_batch_size", 1}}},
         {"training", {{"precision", "bf16"}}},
         {"schedule", {{"total_steps", 3}}},
         {"checkpoint", {{"save_every_steps", 0}}},
         {"evaluation", {{"every_steps", 0}}},
         {"parallel", {{"bucket_mib", 64}, {"timeout_seconds", 60}, {"first_step_timeout_seconds", 60}}}});
    const CommandResult result = train(config, folder / "run", "--local-ranks 4");
    CHECK(result.exit_code == 0);
    CHECK(last_step(folder / "run") == 3);
}
