#pragma once
// The progress of a run: the content of training_state.json.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "batches/mixture.h"

namespace bertpretrain {

/// An exponential moving average over steps.
struct SmoothedLoss {
    double value = 0;
    std::int64_t steps = 0;  ///< in it
};

struct TrainingProgress {
    std::int64_t step = 0;     ///< completed optimizer updates
    std::int64_t samples = 0;  ///< training samples used so far
    std::int64_t global_batch_sequences = 0;
    std::int64_t world_size = 1;
    std::string data_fingerprint;             ///< BatchLoader::fingerprint()
    std::string resume;                       ///< --resume of the process that saved it; empty: the version did not record it
    std::int64_t step_evaluated = -1;         ///< last evaluated step; -1: none yet
    std::optional<double> held_out_mlm_loss;  ///< of `step`; set where it was evaluated
    std::optional<SmoothedLoss> mlm_loss;     ///< of training, where the run stops at a value of it (train/stop/stop_target.h)
    std::int64_t updates_before = 0;          ///< updates already in the moments with which the run began
    std::int64_t skipped_updates = 0, skipped_updates_in_a_row = 0;
    std::optional<std::int64_t> agreed_step;         ///< the last whose state a cross check confirmed (train/audit/cross_check)
    std::string casing;                              ///< "cased", "uncased"; empty where the shards do not record it
    std::string kernels;                             ///< kernel set in use: "avx512_bf16", "cuda"; empty: not recorded
    std::optional<std::int64_t> device_micro_batch;  ///< set where it was measured
    std::vector<MixturePart> mixture;                ///< BatchLoader::mixture(); empty with one source
    nlohmann::json cpu_products;                     ///< choose_matmul_libraries(); null: no choice was made
    nlohmann::json gpu_kernels;                      ///< choose_kernels(); null: there was nothing to choose
    std::vector<double> fp8_magnitudes;              ///< Fp8Scales::state(); empty: matmuls are not in fp8

    /// Returns the number of updates in the moments, without skipped ones: the exponent of their bias correction.
    std::int64_t moment_updates() const { return updates_before + step - skipped_updates; }

    nlohmann::json to_json() const;

    /// @param file named in messages
    /// @throws CheckpointError naming the key that is missing, of the wrong type or out of range
    static TrainingProgress read(const nlohmann::json& json, const std::filesystem::path& file);
};

}  // namespace bertpretrain
