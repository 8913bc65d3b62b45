#pragma once
// Writes a run's records: metrics, events, progress line and pictures.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/threads/detached_worker.h"
#include "telemetry/metrics_endpoint.h"
#include "telemetry/progress.h"
#include "train/records/run_folder.h"

namespace bertpretrain {

class RecordFiles;

/// Records of a run, kept by rank 0; on the other ranks every call does nothing.
///
/// Two threads write. The lines thread writes metrics and events, which must not be lost. The pictures thread writes
/// TensorBoard's and Prometheus' files and the loss picture, which may be. A slow disk therefore does not stop training until
/// 65,536 lines are waiting. Memory does not grow with the run's length.
///
/// After the folder is lost (run_folder.h), pictures stop; lines continue in the open files unless another process holds the
/// folder.
class RunRecords {
public:
    /// @param keeps whether this rank keeps the records
    /// @param metrics_address at which to serve the latest numbers over HTTP (metrics_endpoint.h); empty: none
    /// @param command reads all lines of metrics.jsonl, events.jsonl and devices.jsonl (line_command.h); empty: none
    /// @param steps_left as Progress
    /// @throws DataError when one of these files cannot be opened
    RunRecords(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy, bool keeps,
               const std::string& metrics_address = "", const std::string& command = "", Progress::StepsLeft steps_left = {});
    RunRecords(const RunRecords&) = delete;
    RunRecords& operator=(const RunRecords&) = delete;
    ~RunRecords();

    /// Removes records of steps after `step` and of evaluations after step `evaluated`. Call it before the first add().
    /// @throws DataError when a file cannot be read or written
    void cut_to_step(std::int64_t step, std::int64_t evaluated);
    /// Adds the time to a record and passes it to metrics, progress line and pictures.
    /// @throws DataError when an earlier line could not be written and too many are waiting
    void add(StepRecord record);
    void add(EvaluationRecord record);
    void add(DevicesRecord record);
    void event(std::string_view name, nlohmann::ordered_json details);
    /// Clears the terminal's progress line for other messages.
    void clear_progress();
    /// Queues drawing of the loss picture. @param at_the_end false: at most every ten seconds
    void draw_losses(bool at_the_end);

    /// Returns why nothing is written at the folder's path any more; nullopt: it is not lost. Noticed at a write; never reset.
    std::optional<LostFolder> lost_folder() const;

    /// Returns a function that blocks until all lines so far have been passed to the operating system, so that a killed process
    /// loses none. It may outlive this object and may be called by any thread.
    /// @param required whether the function throws CheckpointError where lines are only in memory, because of a full disk for
    /// example  @throws DataError (the function) as add()
    std::function<void()> lines_written(bool required);
    /// Must be the last call: blocks until the lines are written, and a few seconds for the pictures.
    /// @throws DataError when lines are lost
    void finish();

private:
    void post_lines(std::function<void(RecordFiles&)> work);
    void post_pictures(std::function<void(RecordFiles&)> work);
    void add_to_all(const auto& record);

    double begin_;
    std::shared_ptr<RecordFiles> files_;  ///< null: no records. Shared with work that a hanging disk may hold up
    std::optional<Progress> progress_;
    std::unique_ptr<MetricsEndpoint> endpoint_;  ///< null: none
    double next_drawing_ = 0;
    bool pictures_are_late_ = false;
    std::optional<DetachedWorker> lines_, pictures_;
};

}  // namespace bertpretrain
