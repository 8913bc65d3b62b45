#pragma once
// Norms of whole tensors from sums over blocks that lie on different shards.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/optimizer_kernels.h"
#include "model/parameter_layout.h"

namespace bertpretrain {

/// How shards learn each other's numbers.
class BlockSumExchange {
public:
    virtual ~BlockSumExchange() = default;
    /// Every shard calls this with equally many numbers. @returns those of all shards, shard 0 first
    virtual std::vector<double> all_gather(std::span<const double> own) = 0;
};

/// The exchange of one who owns everything.
class NoExchange final : public BlockSumExchange {
public:
    std::vector<double> all_gather(std::span<const double> own) override { return {own.begin(), own.end()}; }
};

/// Knows which blocks every shard sums, and adds them up in the order of the flat buffer. A (tensor, block) is never cut
/// between shards and blocks do not move when their number changes, so the totals do not depend on it to the last bit.
class BlockSums {
public:
    /// @param shard whose slice the kernels work on; none: the whole flat buffer is one slice (ZeRO stage 0)
    BlockSums(const ParameterLayout& layout, std::optional<std::int64_t> shard);

    const BlockedRuns& own() const { return own_; }
    /// What own() was made of.
    const std::vector<OwnedRun>& owned_runs() const { return owned_runs_; }

    /// Room for a kernel's sums, `columns` per part of own(), filled up so that all shards send equally many.
    std::vector<double> room(std::size_t columns) const { return std::vector<double>(most_parts_ * columns); }

    /// Sums per tensor: [tensor * columns + column]. Talks to all shards once.
    /// @param own_sums what room(columns) gave, filled in by a kernel
    std::vector<double> totals(std::span<const double> own_sums, std::size_t columns, BlockSumExchange& exchange) const;

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
