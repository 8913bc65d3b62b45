#pragma once
// The files of a run's records, as the two threads of run_records.h write them.

#include <mutex>
#include <optional>

#include "telemetry/events_file.h"
#include "telemetry/loss_history.h"
#include "telemetry/metrics_file.h"
#include "telemetry/prometheus_file.h"
#include "telemetry/tensorboard_file.h"
#include "train/run_folder.h"

namespace bertpretrain {

/// metrics and events belong to the thread of lines, the other files and the losses to that of pictures.
class RecordFiles {
public:
    /// @throws DataError when a file of lines cannot be opened
    RecordFiles(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy);
    RecordFiles(const RecordFiles&) = delete;
    RecordFiles& operator=(const RecordFiles&) = delete;
    ~RecordFiles();

    MetricsFile metrics;
    EventsFile events;
    TensorboardFile tensorboard;
    PrometheusFile prometheus;
    LossHistory losses;

    /// Whether lines may be written into the open files: also where the folder was renamed. Any thread.
    bool may_write_lines();
    /// Whether files may be made at the folder's path. Any thread.
    bool may_write_at_path();
    /// As noticed by one of the two above. Any thread.
    std::optional<LostFolder> lost() const;

    /// Draws the losses; what fails is one warning.
    void draw();

private:
    std::optional<LostFolder> look();

    RunFolder folder_;
    std::int64_t total_steps_;
    std::optional<double> unigram_cross_entropy_;
    bool drawing_failed_ = false;
    mutable std::mutex mutex_;
    std::optional<LostFolder> lost_;
};

/// The name of a run, after its folder: a label for Prometheus.
std::string run_name(const RunPaths& paths);

}  // namespace bertpretrain
