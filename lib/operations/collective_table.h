#pragma once
// Measures the collectives that training uses, and reports them in the format of NVIDIA's nccl-tests.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "parallel/world.h"

namespace bertpretrain {

struct CollectiveTiming {
    double microseconds = 0;    ///< per operation, mean over the repetitions on the slowest rank
    double algorithm_gbps = 0;  ///< bytes / time, GB/s
    double bus_gbps = 0;        ///< bus bandwidth of nccl-tests: link rate that a ring needs, comparable between world sizes
    std::int64_t wrong = 0;     ///< wrong elements, summed over ranks
};

struct CollectiveRow {
    std::int64_t bytes = 0, elements = 0;  ///< of the whole tensor, fp32
    CollectiveTiming out_of_place, in_place;
};

struct CollectiveTable {
    /// "all_reduce", "all_gather", "reduce_scatter", "broadcast", as in nccl-tests; "reduce_scatter_all_gather": what training
    /// does
    std::string name;
    std::string reduction;   ///< "sum" or "none"
    std::int64_t root = -1;  ///< 0 for a broadcast, -1 otherwise
    std::vector<CollectiveRow> rows;
    double average_bus_gbps() const;
    std::int64_t wrong() const;
};

struct CollectiveSizes {
    std::int64_t from = 8, to = std::int64_t{1} << 30;  ///< bytes; each size is twice the previous one
    double seconds = 0.2;                               ///< duration for which an operation is repeated, at most 20 times
};

/// Measures all collectives; all ranks call it together. "all_reduce" is the communication library's own, so its numbers mean
/// what those of nccl-tests mean. "reduce_scatter_all_gather" is training's at ZeRO stage 0: the same sums in one order. Sizes
/// are rounded down to a multiple of the world size. Every result is compared with the expected one. Takes four times `to` bytes
/// of memory on each rank.
/// @throws DistributedError when a peer or the network fails
std::vector<CollectiveTable> measure_collectives(World& world, at::Device device, const CollectiveSizes& sizes);

/// Returns the table in the format of --json.
nlohmann::ordered_json json_of(const CollectiveTable& table);

/// Returns the tables as text in the columns of nccl-tests, each with its summary lines.
std::string nccl_tests_text(const std::vector<CollectiveTable>& tables);

}  // namespace bertpretrain
