#pragma once
// Starts runs of several ranks on this host, and compares their results with those of other runs.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/process.h"
#include "support/skip.h"
#include "system/small_run.h"

namespace bertpretrain::testing {

/// The torchrun next to the tests' Python.
inline const std::string torchrun = std::filesystem::path(PYTHON).parent_path() / "torchrun";

/// Writes an experiment of 30 steps of 24 sequences, saved every 10 steps, with dropout 0.1, clipped gradients and small buckets.
/// @param patch JSON merge patch of its settings
std::filesystem::path write_distributed_experiment(const TemporaryFolder& folder,
                                                   const nlohmann::json& patch = nlohmann::json::object());

/// Starts two ranks of `train`, each with its own options, and waits for both. @returns their exit codes
std::vector<int> train_two(const std::filesystem::path& config, const std::filesystem::path& run, const std::string& of_first,
                           const std::string& of_second);

/// Returns largest_difference() of the runs' numbers_of().
double largest_difference(const std::filesystem::path& run_a, const std::filesystem::path& run_b);

/// Returns the largest absolute difference between the parameters of the runs' last checkpoints.
double parameter_difference(const std::filesystem::path& run_a, const std::filesystem::path& run_b);

/// Returns the last completed step in a run's metrics; 0 before the first.
std::int64_t last_step(const std::filesystem::path& run);

/// Whether the run has a complete checkpoint; its steps do not wait for one.
bool has_checkpoint(const std::filesystem::path& run);

}  // namespace bertpretrain::testing

/// Skips the test where there is no torchrun.
#define NEEDS_TORCHRUN()                                           \
    if (!std::filesystem::exists(bertpretrain::testing::torchrun)) \
    SKIP_TEST(bertpretrain::testing::skip::no_oracle, "no torchrun beside the Python of the tests")
