#pragma once
// Checks what a run reads and where it has to fit: shards, memory, disk, mirror. Each returns a description of what it found.

#include <filesystem>
#include <string>

#include <c10/core/Device.h>

#include "parallel/launch_environment.h"
#include "plan/run_plan.h"
#include "storage/object_url.h"

namespace bertpretrain {

/// Reads a sample of every shard, divided among the ranks. @throws DataError, which names all bad files of this rank
std::string check_shards(const RunPlan& plan, const Launch& launch);

/// Compares the memory that the ranks of this host need at the peak with what is available.
/// @throws ConfigError when it is too little
std::string check_memory(const RunPlan& plan, const Launch& launch, at::Device device);

/// Compares the space that checkpoints take with what is free on the disk of the run's folder.
/// @throws CheckpointError when it is too little
std::string check_disk(const RunPlan& plan, const std::filesystem::path& run_folder);

/// Writes a small object into the mirror's folder, reads it back and removes it.
/// @throws ConfigError when the store refuses one of these, or has no such bucket  @throws CheckpointError when other bytes come
/// back  @throws DistributedError when the store cannot be reached for a quarter of a minute
std::string check_mirror(const ObjectUrl& mirror);

}  // namespace bertpretrain
