#pragma once
// How far a run has come: what training_state.json says beside the tensors.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace bertpretrain {

struct TrainingProgress {
    std::int64_t step = 0;     ///< completed optimizer updates
    std::int64_t samples = 0;  ///< that they have used
    std::int64_t global_batch_sequences = 0;
    std::int64_t world_size = 1;
    std::string data_fingerprint;             ///< BatchLoader::fingerprint()
    std::string resume;                       ///< what --resume of the run that saved it was; empty: before it was written down
    std::int64_t step_evaluated = -1;         ///< -1: none yet
    std::optional<double> held_out_mlm_loss;  ///< where `step` was evaluated
    std::int64_t updates_before = 0;          ///< of the moments that the run began with
    std::int64_t skipped_updates = 0, skipped_updates_in_a_row = 0;
    std::string casing;                              ///< "cased", "uncased"; empty where the shards do not tell
    std::string kernels;                             ///< whose computed: "avx512_bf16", "cuda"; empty: before it was written down
    std::optional<std::int64_t> device_micro_batch;  ///< where it is not the settings' own
    nlohmann::json cpu_products;                     ///< choose_matmul_libraries(); null: chosen by nobody
    nlohmann::json gpu_kernels;                      ///< choose_kernels(); null: there was nothing to choose

    /// Updates that went into the moments, skipped ones not counted: the power in their bias correction.
    std::int64_t moment_updates() const { return updates_before + step - skipped_updates; }

    nlohmann::json to_json() const;

    /// @param file named in messages
    /// @throws CheckpointError naming the key that is missing, of another type or out of its range
    static TrainingProgress read(const nlohmann::json& json, const std::filesystem::path& file);
};

}  // namespace bertpretrain
