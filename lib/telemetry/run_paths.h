#pragma once
// The paths of a run's files.

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bertpretrain {

/// Returns the path of each file in a run's folder.
class RunPaths {
public:
    explicit RunPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}

    const std::filesystem::path& folder() const { return folder_; }
    std::filesystem::path settings() const { return folder_ / "settings.json"; }
    std::filesystem::path plan() const { return folder_ / "plan.json"; }
    std::filesystem::path metrics() const { return folder_ / "metrics.jsonl"; }
    std::filesystem::path events() const { return folder_ / "events.jsonl"; }
    std::filesystem::path devices() const { return folder_ / "devices.jsonl"; }
    std::filesystem::path log() const { return folder_ / "log.txt"; }
    std::filesystem::path prometheus() const { return folder_ / "metrics.prom"; }
    std::filesystem::path tensorboard() const { return folder_ / "tensorboard"; }
    std::filesystem::path loss_picture() const { return folder_ / "loss.svg"; }
    std::filesystem::path checkpoints() const { return folder_ / "checkpoints"; }
    std::filesystem::path run_id() const { return folder_ / "run_id"; }
    std::filesystem::path exit_record() const { return folder_ / "exit.json"; }
    /// @param number from 1
    std::filesystem::path phase(std::size_t number, const std::string& name) const;
    std::filesystem::path lock() const { return folder_ / ".lock"; }

private:
    std::filesystem::path folder_;
};

/// Returns the folder of a run: `output`, or runs/NAME for an experiment NAME.json where that is empty.
std::filesystem::path run_folder(const std::string& output, const std::filesystem::path& experiment);

/// Whether the path has the form of a phase's folder, RUN/phases/01_NAME.
bool is_phase_of_run(const std::filesystem::path& folder);

/// Returns the folders of the phases that a run has begun, in order; none for a run without phases.
std::vector<std::filesystem::path> phases_of_run(const std::filesystem::path& run);

/// @throws ConfigError for a run with phases, naming them, where a command takes one run
void require_no_phases(const std::filesystem::path& run);

}  // namespace bertpretrain
