#pragma once
// What a run writes down as it goes.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "telemetry/metrics_endpoint.h"
#include "telemetry/progress.h"
#include "telemetry/writer_thread.h"
#include "train/run_folder.h"

namespace bertpretrain {

class RecordFiles;

/// Metrics, events, progress line and pictures of a run, kept by rank 0; on the other ranks every call does nothing.
///
/// Two threads write: one the lines of metrics and events, which a run must not lose, the other TensorBoard's and Prometheus'
/// files and the loss picture, which it may. So no disk stops training, unless it takes no line for 65,536 of them. Memory does
/// not grow with the run's length.
///
/// Once the folder is lost (run_folder.h), lines go on in the files that are open, unless another process holds the folder;
/// pictures do not.
class RunRecords {
public:
    /// @param metrics_address where the last numbers are served by HTTP (metrics_endpoint.h); empty: nowhere
    /// @throws DataError when a file of lines cannot be opened
    RunRecords(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy, bool keeps,
               const std::string& metrics_address = "");
    RunRecords(const RunRecords&) = delete;
    RunRecords& operator=(const RunRecords&) = delete;
    ~RunRecords();

    /// Before the first add(). @throws DataError
    void cut_to_step(std::int64_t step, std::int64_t evaluated);
    /// Stamps it with the time, and hands it to everything that shows steps.
    /// @throws DataError when an earlier line could not be written and too many are waiting
    void add(StepRecord record);
    void add(EvaluationRecord record);
    void event(std::string_view name, nlohmann::ordered_json details);
    /// Clears the progress line on the terminal for other messages.
    void clear_progress();
    /// Has the picture drawn, on the other thread. @param at_the_end otherwise at most every ten seconds
    void draw_losses(bool at_the_end);

    /// Why nothing is written at the folder's path any more: noticed when something was to be written, and never taken back.
    std::optional<LostFolder> lost_folder() const;

    /// Returns when all lines so far were handed to the system, so that a killed process loses none of them; may outlive this
    /// object, and be called by any thread. @throws DataError as add()
    std::function<void()> lines_written() const;
    /// The last call: waits for the lines, and a few seconds for the pictures. @throws DataError when lines are lost
    void finish();

private:
    void post_lines(std::function<void(RecordFiles&)> work);
    void post_pictures(std::function<void(RecordFiles&)> work);
    void add_to_all(const auto& record);

    double begin_;
    std::int64_t total_steps_;
    std::shared_ptr<RecordFiles> files_;  ///< null: nothing is kept. Shared with work that a hanging disk holds
    std::optional<Progress> progress_;
    std::unique_ptr<MetricsEndpoint> endpoint_;  ///< null: none
    double next_drawing_ = 0;
    bool pictures_are_late_ = false;
    std::optional<WriterThread> lines_, pictures_;
};

}  // namespace bertpretrain
