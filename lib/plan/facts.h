#pragma once
// What resolve() needs to know about the machine, the data and the checkpoint: plain values, so that any situation can be tested.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/training_progress.h"
#include "kernels/matmul_libraries.h"
#include "parallel/nccl_environment.h"
#include "plan/experiment_config.h"
#include "shards/manifest.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

struct MachineFacts {
    std::size_t cores = 1;                                 ///< that this process may use
    std::int64_t gpus = 0;                                 ///< usable ones
    bool has_unusable_gpu = false;                         ///< a driver is installed and not hidden, but no GPU is usable
    bool has_bf16_matmul = false;                          ///< the CPU multiplies bf16 without widening it
    MatmulLibrary default_matmul = MatmulLibrary::onednn;  ///< see kernels/matmul_libraries.h
    bool may_others_be_faster = false;                     ///< than that one
    std::vector<NcclVariable> nccl;                        ///< in effect in this process
};

struct DataFacts {
    bool is_there = false;                         ///< the folders of training shards exist
    std::optional<Manifest> manifest;              ///< of the training shards; of several folders, the first that has one
    std::int64_t training_rows = 0;                ///< of all training shards; 0: a manifest is missing
    std::filesystem::path cache_folder;            ///< for shards of object stores
    std::filesystem::path vocabulary_file;         ///< data.vocabulary, or the one beside the shards; empty: there is none
    std::shared_ptr<const Vocabulary> vocabulary;  ///< its content; null: there is none
    std::vector<std::string> warnings;             ///< for rank 0's log
};

/// The checkpoint that a run resumes from.
struct CheckpointFacts {
    ExperimentConfig settings;
    TrainingProgress progress;
};

/// Looks at this machine. Loads libtorch's CUDA half where NVIDIA's driver is installed.
MachineFacts look_at_machine();

/// Reads the manifests and the vocabulary, each once, and compares the vocabulary with the manifests of all shards that are used.
/// A missing folder of shards is no error here.
/// @throws DataError when a file is damaged, a folder's shards are not complete, the vocabulary is another one, or the manifests
/// of several sources differ in sequence
///         length, vocabulary or casing
/// @throws ConfigError when a tokenizer has no token for a role
DataFacts look_at_data(const DataConfig& data, bool evaluates);

}  // namespace bertpretrain
