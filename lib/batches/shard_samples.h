#pragma once
// A look at every shard before a job, shared among its ranks.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "batches/shard_files.h"

namespace bertpretrain {

struct SampledShards {
    std::int64_t files = 0, rows = 0;  ///< looked at by this rank
};

/// Files rank, rank + ranks, ... of the list: each is compared with its manifest (verify_shards), opened, and its first, middle
/// and last band of rows are checked value by value.
/// @throws DataError with every file that is bad and why
SampledShards sample_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format, std::int64_t rank,
                            std::int64_t ranks, std::size_t threads);

}  // namespace bertpretrain
