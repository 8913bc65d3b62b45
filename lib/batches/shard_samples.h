#pragma once
// Checks some rows of every shard before a run; the ranks share the work.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "batches/shard_files.h"

namespace bertpretrain {

struct SampledShards {
    std::int64_t files = 0, rows = 0;  ///< checked by this rank
};

/// Checks files rank, rank + ranks, ... of the list: compares each with its manifest (verify_shards), opens it, and checks every
/// value of its first, middle and last band.
/// @throws DataError that lists every bad file with its reason
SampledShards sample_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format, std::int64_t rank,
                            std::int64_t ranks, std::size_t threads);

}  // namespace bertpretrain
