#pragma once
// Every decision about a run, made once before it starts. Values are typed, and none is "auto" any more; the three that only a
// running program can find (the largest pass, the matmul libraries, the GEMM rate) are filled in by probes.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>

#include "batches/mixture.h"
#include "kernels/matmul_libraries.h"
#include "kernels/self_proof.h"
#include "model/bert_config.h"
#include "model/flat_parameters.h"
#include "optimizer/optimizer_config.h"
#include "optimizer/schedule.h"
#include "plan/experiment_config.h"
#include "plan/origin.h"
#include "plan/watchdog_config.h"
#include "storage/object_url.h"

namespace bertpretrain {

enum class Objective { mlm_nsp, mlm };
enum class MaskSource { stored, dynamic };
enum class LossMean { global, micro_batch };
enum class KernelPolicy { automatic, reference, fused };
enum class OnSaveError { retry, stop };

struct DataPlan {
    std::vector<std::filesystem::path> training_shards;  ///< the folder of each source
    std::vector<std::string> source_names;  ///< the last part of each folder's path, or its path if that is ambiguous
    std::vector<MixturePart> mixture;       ///< which source each sample comes from
    std::vector<std::int64_t> shares;       ///< of the sources, as the settings ask for
    bool accepts_changed_shares = false;    ///< on resume
    std::vector<std::filesystem::path> held_out_shards;  ///< one folder, or that of each source
    Objective objective = Objective::mlm_nsp;
    std::optional<std::int32_t> document_end;  ///< id of [SEP] with data.block_diagonal: attention stays inside each document
    std::int64_t sequence_length = 128;
    std::filesystem::path vocabulary;  ///< empty: there is none
    MaskSource masks = MaskSource::stored;
    double masked_lm_prob = 0.15;  ///< the shards', where masks are stored and a manifest records it
    bool whole_word_masking = false;
    std::size_t loader_threads = 1;
    std::filesystem::path cache_folder;           ///< for shards of an object store
    std::uint64_t cache_bytes = 0;                ///< limit of that folder
    std::string casing;                           ///< "cased" or "uncased"; empty where no manifest tells
    std::optional<double> unigram_cross_entropy;  ///< nats, of the training shards; where their manifest tells
};

struct InitializationPlan {
    std::optional<std::string> init_from;  ///< nothing: random weights
    bool allows_missing = false, allows_unexpected = false, takes_moments = false;
};

struct BatchPlan {
    std::int64_t micro_batch_size = 16;
    std::int64_t global_batch = 16;                  ///< sequences of one optimizer step over all ranks
    std::optional<std::int64_t> device_micro_batch;  ///< sequences of one pass; nothing: the largest that fits, to be measured
    bool measures_pass = false;
    std::optional<std::int64_t> kept_pass;  ///< a resumed run's measured pass: no larger one is tried

    /// Sequences of a pass before a larger one is measured.
    std::int64_t pass_size() const { return device_micro_batch.value_or(micro_batch_size); }
};

struct ComputePlan {
    bool on_gpu = false;
    at::ScalarType dtype = at::kBFloat16;  ///< of matmuls' operands
    std::uint64_t seed = 42, dropout_seed = 42;
    bool activation_checkpointing = false;
    LossMean loss_mean = LossMean::global;
    std::int64_t max_skipped_updates = 10;
    double loss_spike_deviations = 10;
    std::int64_t cross_check_every_steps = 0;
    KernelPolicy kernels = KernelPolicy::automatic;
    KernelChoice kept_kernels;              ///< a resumed run's; empty: none
    bool chooses_matmul = false;            ///< on a CPU in bf16
    std::optional<MatmulLibraries> matmul;  ///< nothing, where chooses_matmul: to be measured
    MatmulLibraries kept_matmul;            ///< a resumed run's; empty: none
    std::optional<double> gemm_flops;       ///< FLOP/s that matmuls reach on all ranks' devices together; measured
};

struct ParallelPlan {
    std::int64_t world_size = 1, ranks_of_host = 1;
    std::int64_t zero_stage = 1;
    double bucket_mib = 64;
    at::ScalarType reduce_dtype = at::kFloat;  ///< of gradients between ranks
    FlatParameters::Gradients gradients = FlatParameters::Gradients::fp32;
    double first_step_timeout_seconds = 1800, timeout_seconds = 600;
    std::int64_t straggler_report_steps = 100;
};

struct CheckpointPlan {
    std::int64_t save_every_steps = 200;
    std::int64_t keep_last = 3;
    std::int64_t keep_every_steps = 0;
    bool keep_best = true;
    bool snapshots = true;  ///< save a copy while training goes on
    OnSaveError on_save_error = OnSaveError::retry;
    std::string after_save;
    double after_save_seconds = 600, stop_grace_seconds = 25;
    std::optional<ObjectUrl> mirror;  ///< of rank 0; nullopt: none
    double mirror_seconds = 600;
};

struct RunPlan {
    ExperimentConfig settings;  ///< as asked for, with the global batch filled in: checkpoints keep it, and resumes compare it
    BertConfig model;           ///< with next_sentence as the objective needs it
    DataPlan data;
    InitializationPlan initialization;
    BatchPlan batch;
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    ComputePlan compute;
    ParallelPlan parallel;
    CheckpointPlan checkpoint;
    EvaluationConfig evaluation;
    TelemetryConfig telemetry;
    WatchdogConfig watchdog;
    std::vector<PlannedValue> values;   ///< every setting as it was decided, in the order of the settings
    std::vector<std::string> warnings;  ///< for rank 0's log

    /// Records a decision: replaces the value of `path`, or adds it at the end.
    void decide(const std::string& path, nlohmann::ordered_json value, Origin origin, std::string reason);
    /// @throws std::logic_error where there is no such value
    const PlannedValue& value_of(const std::string& path) const;
};

/// {"section": {"key": {"value": ..., "origin": "file", "reason": ...}}}, for the run's folder.
nlohmann::ordered_json to_json(const RunPlan& plan);
/// A table of setting, value, origin and reason.
std::string resolved_table(const RunPlan& plan);

}  // namespace bertpretrain
