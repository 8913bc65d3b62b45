#include "inference/training_records.h"

#include <map>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "core/files/files.h"
#include "telemetry/metrics_file.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// The run that has the checkpoint RUN/checkpoints/step_N; empty for a checkpoint elsewhere.
fs::path run_of(const fs::path& checkpoint) {
    const fs::path whole = fs::absolute(checkpoint / "").lexically_normal().parent_path();
    return whole.parent_path().filename() == "checkpoints" ? whole.parent_path().parent_path() : fs::path();
}

/// Reads the steps up to the checkpoint. Of a step that was repeated after a restart, the last record counts.
void read_metrics_until(const fs::path& file, std::int64_t step, TrainingRecords& records) {
    std::map<std::int64_t, std::pair<double, double>> tokens_and_seconds;
    for_each_record(
        file,
        [&](const StepRecord& record) {
            if (record.step > step) return;
            tokens_and_seconds[record.step] = {record.tokens_per_second * record.step_seconds, record.step_seconds};
            records.last_step = record;
        },
        [&](const EvaluationRecord& record) {
            if (record.step <= step) records.evaluation = record;
        });
    for (const auto& [number, values] : tokens_and_seconds) {
        records.tokens += values.first;
        records.seconds += values.second;
    }
}

}  // namespace

std::optional<TrainingRecords> read_training_records(const LoadedModel& model) {
    if (model.is_foreign) return std::nullopt;
    TrainingRecords records;
    const fs::path run = run_of(model.folder);
    fs::path named = run.empty() ? fs::absolute(model.folder / "").lexically_normal().parent_path() : run;
    if (step_of_folder_name(named.filename().string())) named = named.parent_path();  // MEAN/step_N
    records.run = named.filename().string();
    records.settings = nlohmann::json::parse(read_file(model.folder / settings_file));
    if (fs::exists(model.folder / lineage_file)) records.lineage = read_lineage(model.folder / lineage_file);
    if (!run.empty() && fs::exists(RunPaths(run).metrics())) read_metrics_until(RunPaths(run).metrics(), model.step, records);
    return records;
}

}  // namespace bertpretrain
