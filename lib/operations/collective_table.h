#pragma once
// How fast the ranks exchange tensors: the table of NVIDIA's nccl-tests, over the collectives that training uses.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "parallel/world.h"

namespace bertpretrain {

struct CollectiveTiming {
    double microseconds = 0;    ///< of one operation, mean over the repetitions, on the slowest rank
    double algorithm_gbps = 0;  ///< bytes / time, GB/s
    double bus_gbps = 0;        ///< what a ring would have to send at for that: comparable between numbers of ranks
    std::int64_t wrong = 0;     ///< elements, over all ranks
};

struct CollectiveRow {
    std::int64_t bytes = 0, elements = 0;  ///< of the whole tensor, fp32
    CollectiveTiming out_of_place, in_place;
};

struct CollectiveTable {
    std::string name;        ///< "all_reduce", "all_gather", "reduce_scatter", "broadcast", as nccl-tests has it
    std::string reduction;   ///< "sum" or "none"
    std::int64_t root = -1;  ///< 0 of a broadcast
    std::vector<CollectiveRow> rows;
    double average_bus_gbps() const;
    std::int64_t wrong() const;
};

struct CollectiveSizes {
    std::int64_t from = 8, to = std::int64_t{1} << 30;  ///< bytes; each size is twice the one before
    double seconds = 0.2;                               ///< for which one operation is repeated, 20 times at most
};

/// All ranks together. An all-reduce is a reduce-scatter and an all-gather, as training does it at ZeRO stage 0; a tensor is
/// rounded down to a multiple of the ranks. Every answer is compared with what it must be. Takes four times `to` of memory on
/// each rank.
/// @throws DistributedError when a peer or the network fails
std::vector<CollectiveTable> measure_collectives(World& world, at::Device device, const CollectiveSizes& sizes);

/// As in --json.
nlohmann::ordered_json json_of(const CollectiveTable& table);

/// In the columns of nccl-tests, each table with its closing lines.
std::string nccl_tests_text(const std::vector<CollectiveTable>& tables);

}  // namespace bertpretrain
