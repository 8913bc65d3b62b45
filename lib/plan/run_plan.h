#pragma once
// Every decision about a run, made once before it starts. Decided values are typed, and none is "auto" any more; the three that
// only a running program can find (the largest pass, the matmul libraries, the GEMM rate) are filled in by probes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>

#include "batches/mixture.h"
#include "batches/shard_files.h"
#include "kernels/matmul_libraries.h"
#include "kernels/self_proof.h"
#include "model/flat_parameters.h"
#include "plan/experiment_config.h"
#include "plan/origin.h"
#include "storage/object_url.h"

namespace bertpretrain {

struct DataPlan {
    std::vector<std::filesystem::path> training_shards;  ///< the folder of each source
    std::vector<std::string> source_names;  ///< the last part of each folder's path, or its path if that is ambiguous
    std::vector<MixturePart> mixture;       ///< which source each sample comes from
    std::vector<std::int64_t> shares;       ///< of the sources, as the settings ask for
    std::vector<std::filesystem::path> held_out_shards;  ///< one folder, or that of each source
    std::optional<std::int32_t> document_end;  ///< id of [SEP] with data.block_diagonal: attention stays inside each document
    std::filesystem::path vocabulary;          ///< empty: there is none
    double masked_lm_prob = 0.15;              ///< the shards', where masks are stored and a manifest records it
    double stored_masked_lm_prob = 0.15;       ///< the shards', where a manifest records it
    std::size_t loader_threads = 1;
    std::filesystem::path cache_folder;           ///< for shards of an object store
    std::uint64_t cache_bytes = 0;                ///< limit of that folder
    std::string casing;                           ///< "cased" or "uncased"; empty where no manifest tells
    std::optional<double> unigram_cross_entropy;  ///< nats, of the training shards; where their manifest tells
};

struct BatchPlan {
    std::optional<std::int64_t> device_micro_batch;  ///< sequences of one pass; nothing: the largest that fits, to be measured
    bool measures_pass = false;
    std::optional<std::int64_t> kept_pass;  ///< a resumed run's measured pass: no larger one is tried
};

struct ComputePlan {
    bool on_gpu = false;
    at::ScalarType dtype = at::kBFloat16;        ///< of matmuls' operands
    at::ScalarType residual_dtype = at::kFloat;  ///< of the residual stream
    std::uint64_t dropout_seed = 42;
    KernelChoice kept_kernels;              ///< a resumed run's; empty: none
    bool chooses_matmul = false;            ///< on a CPU in bf16
    std::optional<MatmulLibraries> matmul;  ///< nothing, where chooses_matmul: to be measured
    MatmulLibraries kept_matmul;            ///< a resumed run's; empty: none
    std::optional<double> gemm_flops;       ///< FLOP/s that matmuls reach on all ranks' devices together; measured
};

struct ParallelPlan {
    std::int64_t world_size = 1, ranks_of_host = 1;
    at::ScalarType reduce_dtype = at::kFloat;  ///< of gradients between ranks
    bool chooses_dtype = false;                ///< whether reduce_dtype depends on how ranks are divided into hosts
    bool in_stages = false;                    ///< whether tensors go within nodes first, then between them (NodeRoute)
    FlatParameters::Gradients gradients = FlatParameters::Gradients::fp32;
};

struct CheckpointPlan {
    bool snapshots = true;            ///< save a copy while training goes on
    std::optional<ObjectUrl> mirror;  ///< of rank 0; nullopt: none
};

/// What was asked for, and what was decided where the settings leave a choice. No value is in both.
struct RunPlan {
    /// As asked for, except three that are filled in, because checkpoints keep them and resumes compare them: the global batch,
    /// the rows of the vocabulary, and a resumed run's optimizer. model.next_sentence is set as the objective needs it.
    ExperimentConfig settings;
    DataPlan data;
    BatchPlan batch;
    ComputePlan compute;
    ParallelPlan parallel;
    CheckpointPlan checkpoint;
    Origins origins;                    ///< of the settings that a file or --set names
    std::vector<PlannedValue> decided;  ///< what the program decided and why, for people
    std::vector<std::string> warnings;  ///< for rank 0's log

    /// Sequences of one step over all ranks, after a batch warm-up.
    std::int64_t global_batch() const { return settings.batch.global_batch_size; }
    /// Sequences of a pass before a larger one is measured.
    std::int64_t pass_size() const { return batch.device_micro_batch.value_or(settings.batch.micro_batch_size); }
    /// Sequences of full length that a pass holds at most. Ranks share a step by tokens, so a rank with shorter sequences may
    /// have more of them.
    std::int64_t full_sequences_of_pass() const { return std::min(pass_size(), sequences_per_rank()); }
    /// A rank's share of a step, rounded up.
    std::int64_t sequences_per_rank() const { return (global_batch() + parallel.world_size - 1) / parallel.world_size; }
    /// Whether passes of several sizes are possible, and the largest that fits is measured.
    bool has_choice_of_pass() const { return batch.measures_pass && sequences_per_rank() > settings.batch.micro_batch_size; }

    /// Records a decision, in place of an earlier one on the same path.
    void decide(const std::string& path, nlohmann::ordered_json value, Origin origin, std::string reason);
    /// Returns every setting in the order of the settings, as decided or as asked for, and after them what is decided besides.
    std::vector<PlannedValue> values() const;
};

/// The rows that shards must have for this run.
RowFormat row_format(const RunPlan& plan);

/// {"section": {"key": {"value": ..., "origin": "file", "reason": ...}}}, for the run's folder.
nlohmann::ordered_json to_json(const RunPlan& plan);
/// A table of setting, value, origin and reason.
std::string resolved_table(const RunPlan& plan);

}  // namespace bertpretrain
