#pragma once
// Which ranks share a node, and the way by which parts of a tensor travel between all ranks.

#include <cstdint>
#include <string>
#include <vector>

namespace bertpretrain {

/// The node of a process, for hosts that share a name, and for containers of one host that do not: see node_name().
inline constexpr const char* node_variable = "BERTPRETRAIN_NODE";

/// Returns the name by which ranks recognise that they share a node: that variable, else the host's name.
std::string node_name();

/// Ranks exchange parts of a tensor in two stages: with the ranks of their node, then along their rail, which is the rank of the
/// same place on every node. All ranks together send as many bytes as in one stage, but a node sends each part to another node
/// once, as a sum, and not once for each of its ranks. Where the nodes have one rank each, or not the same number of ranks, all
/// ranks count as one node: there is one stage.
struct NodeRoute {
    std::vector<std::int64_t> node;                ///< the ranks of this rank's node, ascending
    std::vector<std::vector<std::int64_t>> rails;  ///< rails[place]: a rank per node, ascending; as many rails as ranks of a node
    std::int64_t place = 0;                        ///< of this rank on its node
    std::int64_t named_nodes = 1;                  ///< different names, whether there are two stages or one

    /// @param node_of_rank node_name() of every rank
    NodeRoute(const std::vector<std::string>& node_of_rank, std::int64_t rank);

    const std::vector<std::int64_t>& rail() const { return rails[static_cast<std::size_t>(place)]; }
    /// Returns this rank's index on its rail.
    std::int64_t rank_on_rail() const;
    std::int64_t nodes() const { return std::ssize(rails.front()); }
    std::int64_t ranks_per_node() const { return std::ssize(node); }
    /// Returns all ranks in the order of their rails.
    std::vector<std::int64_t> by_rail() const;
    /// Returns the rails as "0 2, 1 3": what decides the order of sums; "" in one stage.
    std::string text() const;
};

}  // namespace bertpretrain
