#pragma once
// Norms of whole tensors from sums over blocks that are distributed over shards.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/interface/optimizer_kernels.h"
#include "model/parameter_layout.h"

namespace bertpretrain {

/// Communication between shards.
class BlockSumExchange {
public:
    virtual ~BlockSumExchange() = default;
    /// All shards call this together, with equally many numbers. Blocks. @returns the numbers of all shards, shard 0 first
    virtual std::vector<double> all_gather(std::span<const double> own) = 0;
};

/// The exchange for a single shard that owns everything.
class NoExchange final : public BlockSumExchange {
public:
    std::vector<double> all_gather(std::span<const double> own) override { return {own.begin(), own.end()}; }
};

/// Knows which blocks each shard sums, and adds the sums up in the order of the flat buffer. No (tensor, block) is split between
/// shards, and blocks do not move when the number of shards changes, so the totals are bitwise independent of that number.
class BlockSums {
public:
    /// @param shard the one whose slice the kernels process; none: the slice is the whole flat buffer (ZeRO stage 0)
    BlockSums(const ParameterLayout& layout, std::optional<std::int64_t> shard);

    const BlockedRuns& own() const { return own_; }
    /// The owned runs from which own() was made.
    const std::vector<OwnedRun>& owned_runs() const { return owned_runs_; }

    /// Returns a buffer for a kernel's sums, `columns` per part of own(), padded so that all shards send equally many.
    std::vector<double> room(std::size_t columns) const { return std::vector<double>(most_parts_ * columns); }

    /// Returns sums per tensor: [tensor * columns + column].
    /// @param gathered of all shards, shard 0 first: room(columns), filled by a kernel
    std::vector<double> totals(std::span<const double> gathered, std::size_t columns) const;

private:
    struct PartsOfTensor {
        std::size_t tensor = 0;
        std::size_t parts = 0;
    };

    std::size_t tensors_;
    std::size_t most_parts_ = 0;                      ///< of any shard
    std::vector<std::vector<PartsOfTensor>> shards_;  ///< each shard's runs, in slice order
    std::vector<OwnedRun> owned_runs_;
    BlockedRuns own_;
};

}  // namespace bertpretrain
