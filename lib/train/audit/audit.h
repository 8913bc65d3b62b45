#pragma once
// The result of an audit: steps of a run, computed again and compared with what the run recorded.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "telemetry/metrics_chain.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

enum class AuditVerdict { equal, within_bound, different };

/// Returns "equal", "within_bound" or "different".
const char* name_of(AuditVerdict verdict);

/// The differences that other kernels, another number of ranks or another device may cause, relative to the recorded value.
struct AuditBound {
    double loss = 0.001;
    double grad_norm() const { return 10 * loss; }
    double tensor() const { return 100 * loss; }  ///< of the L2 norm of the difference, relative to that of the recorded tensor
};

/// A tensor of a checkpoint, compared with the recomputed one.
struct TensorComparison {
    std::string name;  ///< a parameter's, or "exp_avg of " one
    bool equal = true;
    double difference = 0;  ///< L2 norm of the difference, relative to that of the checkpoint's tensor
};

/// A step with its verdict.
struct AuditedStep {
    std::int64_t step = 0;
    AuditVerdict verdict = AuditVerdict::equal;
    double loss_difference = 0;  ///< relative
    bool is_saved = false;       ///< its tensors were compared with the run's checkpoint
    std::string what{};          ///< the first value or tensor that differs; empty if all are equal
};

/// Compares a step's losses, accuracy, gradient norm and learning rate.
/// @param logged null: the run's metrics have no line of the step
/// @param exact whether the run computed under the audit's conditions: then only equal bits pass. Else the accuracy is not
/// compared, because it counts, and the learning rate must still be equal
AuditedStep compare_step(const StepRecord* logged, const StepRecord& computed, bool exact, const AuditBound& bound);

/// Adds the comparison of a step's tensors with its checkpoint.
void add_tensors(AuditedStep& step, const std::vector<TensorComparison>& tensors, bool exact, const AuditBound& bound);

/// Adds a difference that no bound covers, such as a damaged file.
void add_difference(AuditedStep& step, const std::string& what);

/// Returns what the metrics lack of the steps after `begin`; empty: nothing. @param last_saved step of the newest checkpoint
std::string missing_lines(const std::map<std::int64_t, StepRecord>& logged, std::int64_t begin, std::int64_t last_saved);

/// Consecutive steps.
struct AuditedStretch {
    std::int64_t from = 0;  ///< step of the checkpoint that was loaded; 0: the run's initial state
    std::vector<AuditedStep> steps;
};

struct Audit {
    std::int64_t last_step = 0;  ///< of the run's metrics
    ChainCheck chain;
    std::string missing;  ///< missing_lines()
    std::vector<AuditedStretch> stretches;
    AuditBound bound;
    double computed_steps = 0, seconds = 0;  ///< all steps that were computed, also those before a stretch; without the start

    /// The worst of all parts.
    AuditVerdict verdict() const;
};

std::string text_of(const Audit& audit);
std::string json_of(const Audit& audit);

}  // namespace bertpretrain
