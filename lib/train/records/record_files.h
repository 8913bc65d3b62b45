#pragma once
// The files of a run's records, written by the two threads of run_records.h.

#include <mutex>
#include <optional>
#include <string>

#include "telemetry/devices_file.h"
#include "telemetry/events_file.h"
#include "telemetry/line_command.h"
#include "telemetry/loss_history.h"
#include "telemetry/metrics_file.h"
#include "telemetry/prometheus_file.h"
#include "telemetry/tensorboard_file.h"
#include "train/records/run_folder.h"

namespace bertpretrain {

/// The lines thread owns `metrics`, `events`, `devices` and `reader`; the pictures thread owns the other files and `losses`.
class RecordFiles {
public:
    /// @param command reads all lines of `metrics`, `events` and `devices` (line_command.h); empty: none
    /// @throws DataError when metrics.jsonl, events.jsonl or devices.jsonl cannot be opened
    RecordFiles(const RunFolder& folder, std::int64_t total_steps, std::optional<double> unigram_cross_entropy,
                const std::string& command = "");
    RecordFiles(const RecordFiles&) = delete;
    RecordFiles& operator=(const RecordFiles&) = delete;
    ~RecordFiles();

    MetricsFile metrics;
    EventsFile events;
    DevicesFile devices;
    LineCommand reader;
    TensorboardFile tensorboard;
    PrometheusFile prometheus;
    LossHistory losses;

    /// Whether lines may be written into the open files; true also after the folder was renamed. Thread-safe; may block on a
    /// disk.
    bool may_write_lines();
    /// Whether files may be created at the folder's path. Thread-safe; may block on a disk.
    bool may_write_at_path();
    /// Returns the loss of the folder that one of the two above has noticed; nullopt: none. Thread-safe.
    std::optional<LostFolder> lost() const;

    /// Tries to write lines that are kept in memory, after a full disk for example. For the lines thread.
    /// @returns the path of a file that still lacks lines; empty: none
    std::string retry_lines();

    /// Draws the loss picture. Logs only the first failure.
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

/// Returns the run's name, which is that of its folder: a label for Prometheus.
std::string run_name(const RunPaths& paths);

}  // namespace bertpretrain
