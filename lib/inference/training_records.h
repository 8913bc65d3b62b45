#pragma once
// What a run's files say about how a checkpoint was trained.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint/lineage.h"
#include "inference/loaded_model.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

struct TrainingRecords {
    std::string run;                             ///< name of the run's folder; of a checkpoint elsewhere, of its own
    nlohmann::json settings;                     ///< the checkpoint's settings.json
    std::optional<Lineage> lineage;              ///< the checkpoint's lineage.json
    std::optional<StepRecord> last_step;         ///< of training up to the checkpoint
    std::optional<EvaluationRecord> evaluation;  ///< the last one up to the checkpoint
    double tokens = 0;                           ///< trained on up to the checkpoint, without padding; 0: unknown
    double seconds = 0;                          ///< sum of its steps' durations
};

/// Reads settings.json and lineage.json of a checkpoint, and metrics.jsonl of its run, as far as they exist. Returns nullopt for
/// weights of other programs. @throws DataError for a damaged file
std::optional<TrainingRecords> read_training_records(const LoadedModel& model);

}  // namespace bertpretrain
