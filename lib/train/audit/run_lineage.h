#pragma once
// Writes lineage.json into each checkpoint of a run.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/lineage.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// The lineage of a run's next checkpoint. Used on rank 0, by one thread at a time.
class RunLineage {
public:
    /// Takes the digests of shards from their manifests, so that the start of a run does not read them once more.
    /// @param session this start or resume
    /// @param predecessor the checkpoint from which the run resumes; nullopt: a fresh start
    /// @throws DataError when a manifest or the vocabulary cannot be read
    RunLineage(const RunPlan& plan, SessionLineage session, const std::optional<std::filesystem::path>& predecessor);

    /// Hashes a complete checkpoint's files, and writes lineage.json beside them. Reads each file once, from the page cache if it
    /// has just been written. If that fails, the next checkpoint names this one without a digest.
    /// @param sign_of_life as in digest_of_file()  @throws CheckpointError, DataError
    void record(const std::filesystem::path& checkpoint, std::int64_t step, const std::function<void()>& sign_of_life);

private:
    void start_from(const std::string& weights);
    void take_over(const std::filesystem::path& predecessor, std::int64_t step);

    Lineage lineage_;                                ///< without the next checkpoint's own step and files
    std::vector<std::filesystem::path> not_hashed_;  ///< weights of another program with which the run started
};

/// Returns a session of this program.
SessionLineage session_lineage(std::int64_t begin, std::int64_t ranks, const std::string& settings_sha256,
                               const std::string& computed_by);

}  // namespace bertpretrain
