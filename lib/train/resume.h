#pragma once
// Which checkpoint a run goes on from, and whether it may.

#include <memory>
#include <string>

#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "parallel/world.h"
#include "train/experiment_config.h"

namespace bertpretrain {

/// What `--resume` asks for.
struct ResumeRequest {
    enum class Kind { automatic, never, step } kind = Kind::automatic;
    std::int64_t step = 0;

    /// "auto", "never" or a step. @throws ConfigError
    static ResumeRequest parse(const std::string& text);
};

/// The checkpoint to go on from; null for a fresh start.
/// automatic: the newest that is whole; damaged ones are named in a warning.
/// @throws CheckpointError when the step asked for is not there, or all that there are are damaged
/// @throws ConfigError for `never` in a folder that holds checkpoints
std::unique_ptr<CheckpointReader> choose_checkpoint(const CheckpointStore& store, const ResumeRequest& request);

/// The same for all ranks together: rank 0 chooses and checks the contents, the others open what it chose.
std::unique_ptr<CheckpointReader> choose_checkpoint(World& world, const CheckpointStore& store, const ResumeRequest& request);

/// Sequences of one optimizer step: those of the run's first start, whatever the number of ranks now; another number where the
/// experiment asks for one (which refuse_changed_settings then refuses).
/// @param reader null for a fresh start
std::int64_t global_batch_of(const ExperimentConfig& experiment, std::int64_t world_size, const CheckpointReader* reader);

/// @throws ConfigError naming every setting that differs from the checkpoint's and may not, with both values
void refuse_changed_settings(const CheckpointReader& reader, const ExperimentConfig& experiment, std::int64_t global_batch,
                             const std::string& data_fingerprint);

}  // namespace bertpretrain
