#pragma once
// What a run writes down as it goes.

#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "telemetry/events_file.h"
#include "telemetry/metrics_endpoint.h"
#include "telemetry/metrics_file.h"
#include "telemetry/progress.h"
#include "telemetry/prometheus_file.h"
#include "telemetry/tensorboard_file.h"
#include "train/run_folder.h"

namespace bertpretrain {

/// Metrics, events, progress line and loss picture, kept by rank 0; on the other ranks every call does nothing. Once the folder
/// is lost (run_folder.h), lines go on in the files that are open, unless another process holds the folder; pictures do not.
class RunRecords {
public:
    /// @param metrics_address where the last numbers are served by HTTP (metrics_endpoint.h); empty: nowhere
    RunRecords(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy, bool keeps,
               const std::string& metrics_address = "");

    void cut_to_step(std::int64_t step, std::int64_t evaluated);
    /// Stamps it with the time, and writes it to everything that tells of steps.
    void add(StepRecord record);
    void add(EvaluationRecord record);
    void event(std::string_view name, const nlohmann::ordered_json& details);
    /// Why nothing is written at the folder's path any more: noticed when something was to be written, and never taken back.
    const std::optional<LostFolder>& lost_folder() const { return lost_; }
    /// Makes room for other words on the terminal.
    void clear_progress();
    /// @param at_the_end otherwise it is left out when drawing would take more than a hundredth of the time
    void draw_losses(bool at_the_end);

private:
    enum class Where { at_path, by_descriptor };
    /// @returns whether it may be written: by the descriptors that are open also where the folder was renamed
    bool may_write(Where where);
    void draw() const;

    struct Files {
        Files(const RunPaths& paths, std::int64_t total_steps);
        MetricsFile metrics;
        EventsFile events;
        Progress progress;
        TensorboardFile tensorboard;
        PrometheusFile prometheus;
        std::unique_ptr<MetricsEndpoint> endpoint;  ///< null: none
    };

    RunFolder folder_;
    RunPaths paths_;
    std::int64_t total_steps_;
    std::optional<double> unigram_cross_entropy_;
    std::optional<Files> files_;
    std::optional<LostFolder> lost_;
    double next_drawing_ = 0;
    bool drawing_failed_ = false;
};

}  // namespace bertpretrain
