#pragma once
// Uploads checkpoints to the run's mirror in the background.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_mirror.h"
#include "core/threads/detached_worker.h"

namespace bertpretrain {

/// One upload at a time, on a thread of low priority. One more checkpoint waits; a newer one takes its place. Members return at
/// once, except where they say otherwise. Not thread-safe.
class MirrorUploads {
public:
    /// @param keep as in CheckpointMirror::send()
    MirrorUploads(std::shared_ptr<CheckpointMirror> mirror, std::int64_t keep);
    ~MirrorUploads();  ///< interrupts an upload, which ends within a few seconds

    /// Uploads a complete checkpoint of the local folder.
    void start(std::int64_t step, const std::filesystem::path& folder);

    /// Returns the steps of local checkpoints that are being uploaded or wait.
    std::set<std::int64_t> in_use() const;

    struct Result {
        std::int64_t step = 0;
        bool is_skipped = false;  ///< a newer one was complete before its upload began
        std::string failure{};    ///< empty: it is in the mirror
        CheckpointMirror::Sent sent{};
        double seconds = 0;
    };
    /// Returns what has ended since the last call.
    std::vector<Result> take_results();

    /// Blocks until nothing is uploaded or waits, or until `end`. If the newest has failed, uploads it again, with growing pauses
    /// until `end`; only once where the reason does not pass (ConfigError, DataError). What is not finished at `end` is
    /// interrupted and counts as failed. take_results() has the last failure of a step only.
    /// @param end when to stop waiting, by seconds_now(); called repeatedly
    void finish(const std::function<double()>& end);

    /// Interrupts uploads of later steps and marks them in the mirror (CheckpointMirror::abandon_after()). Blocks for at most
    /// half a minute. @returns why it failed; empty: it did not
    std::string abandon_after(std::int64_t step);

private:
    struct State;
    void post();

    std::shared_ptr<State> state_;  ///< shared with the thread
    DetachedWorker thread_;
};

}  // namespace bertpretrain
