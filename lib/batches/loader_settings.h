#pragma once
// What a loader of training batches is made from.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "batches/batch_sizes.h"
#include "batches/mixture.h"
#include "batches/sample_order.h"
#include "batches/shard_files.h"
#include "shards/dynamic_masking.h"

namespace bertpretrain {

struct BatchLoaderSettings {
    std::uint64_t seed = 0;
    BatchSizes batch_sizes;             ///< sequences of each step, over all micro-batches and ranks
    std::int64_t micro_batch_size = 0;  ///< sequences of a micro-batch; the last one of a step may have fewer
    RowFormat format;
    std::int64_t rank = 0, world_size = 1;
    at::Device device = at::Device(at::DeviceType::CPU);
    std::int64_t prefetch_steps = 3;  ///< steps built ahead
    std::int64_t window_rows = SampleOrder::default_window_rows;
    std::int64_t cache_bytes = 0;              ///< memory limit for a source's decompressed bands; 0: twice its largest window
    std::size_t threads = 1;                   ///< for verifying, reading and decompressing
    std::shared_ptr<ObjectCache> cache{};      ///< for sources in object stores; null: there are none
    std::filesystem::path cache_folder{};      ///< of shard_cache_folder()
    std::optional<DynamicMasking> masking;     ///< nothing: the stored masks are used
    std::int64_t cross_check_every_steps = 0;  ///< batches of its multiples have a cross_check micro-batch; 0: none
};

/// The shard files of each source, and which source each sample comes from.
struct TrainingSources {
    std::vector<std::vector<std::filesystem::path>> files = std::vector<std::vector<std::filesystem::path>>(1);
    Mixture mixture;

    TrainingSources() = default;
    /// One source.
    TrainingSources(std::vector<std::filesystem::path> of_one) : files{std::move(of_one)} {}
    /// @param of_each one list of files for each source of the mixture
    TrainingSources(std::vector<std::vector<std::filesystem::path>> of_each, Mixture mixed)
        : files(std::move(of_each)), mixture(std::move(mixed)) {}
};

/// Row indices, ascending, by file.
using RowsByFile = std::map<std::filesystem::path, std::vector<std::int64_t>>;

}  // namespace bertpretrain
