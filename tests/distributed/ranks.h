#pragma once
// Runs of many ranks on this host, and what they must have in common with a run of one.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/process.h"
#include "support/skip.h"
#include "system/small_run.h"

namespace bertpretrain::testing {

/// The one beside the Python of the tests.
inline const std::string torchrun = std::filesystem::path(PYTHON).parent_path() / "torchrun";

/// 30 steps of 24 sequences, saved every 10, dropout 0.1, clipped gradients, small buckets; changed by a JSON merge patch.
std::filesystem::path write_distributed_experiment(const TemporaryFolder& folder,
                                                   const nlohmann::json& patch = nlohmann::json::object());

/// Starts two ranks of `train` with options of their own, and waits for both. @returns their exit codes
std::vector<int> train_two(const std::filesystem::path& config, const std::filesystem::path& run, const std::string& of_first,
                           const std::string& of_second);

/// The largest difference, relative to numbers above 1, of all numbers but bytes_sent that are not measured by the clock.
/// Infinite when the runs did not take the same steps.
double largest_difference(const std::filesystem::path& run_a, const std::filesystem::path& run_b);

/// The largest absolute difference between the parameters of the runs' last checkpoints.
double parameter_difference(const std::filesystem::path& run_a, const std::filesystem::path& run_b);

/// The last completed step that a run's metrics tell of; 0 before the first.
std::int64_t last_step(const std::filesystem::path& run);

/// Whether a checkpoint of the run is complete: steps do not wait for it.
bool has_checkpoint(const std::filesystem::path& run);

}  // namespace bertpretrain::testing

/// Skips the test where there is no torchrun.
#define NEEDS_TORCHRUN()                                           \
    if (!std::filesystem::exists(bertpretrain::testing::torchrun)) \
    SKIP_TEST(bertpretrain::testing::skip::no_oracle, "no torchrun beside the Python of the tests")
