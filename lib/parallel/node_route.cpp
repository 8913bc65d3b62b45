#include "parallel/node_route.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/environment.h"
#include "core/host_name.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// Returns the ranks of every node, ascending; all ranks as one node where two stages would not pay or are not possible.
std::vector<std::vector<std::int64_t>> ranks_of_nodes(const std::vector<std::string>& node_of_rank) {
    std::map<std::string, std::vector<std::int64_t>> by_name;
    for (std::int64_t rank = 0; rank < std::ssize(node_of_rank); ++rank)
        by_name[node_of_rank[static_cast<std::size_t>(rank)]].push_back(rank);
    const std::size_t ranks_of_a_node = by_name.begin()->second.size();
    bool even = ranks_of_a_node > 1;
    std::vector<std::vector<std::int64_t>> nodes;
    for (const auto& [name, ranks] : by_name) {
        even = even && ranks.size() == ranks_of_a_node;
        nodes.push_back(ranks);
    }
    if (even) return nodes;
    std::vector<std::int64_t> all;
    for (std::int64_t rank = 0; rank < std::ssize(node_of_rank); ++rank) all.push_back(rank);
    return {all};
}

}  // namespace

std::string node_name() { return environment_variable(node_variable).value_or(host_name()); }

NodeRoute::NodeRoute(const std::vector<std::string>& node_of_rank, std::int64_t rank) {
    for (const std::vector<std::int64_t>& ranks : ranks_of_nodes(node_of_rank)) {
        rails.resize(ranks.size());
        for (std::size_t i = 0; i < ranks.size(); ++i) rails[i].push_back(ranks[i]);
        const auto found = std::find(ranks.begin(), ranks.end(), rank);
        if (found == ranks.end()) continue;
        node = ranks;
        place = found - ranks.begin();
    }
    for (std::vector<std::int64_t>& rail : rails) std::sort(rail.begin(), rail.end());
    named_nodes = std::ssize(std::set<std::string>(node_of_rank.begin(), node_of_rank.end()));
}

std::int64_t NodeRoute::rank_on_rail() const {
    const std::int64_t rank = node[static_cast<std::size_t>(place)];
    return std::find(rail().begin(), rail().end(), rank) - rail().begin();
}

std::vector<std::int64_t> NodeRoute::by_rail() const {
    std::vector<std::int64_t> ranks;
    for (const std::vector<std::int64_t>& rail : rails) ranks.insert(ranks.end(), rail.begin(), rail.end());
    return ranks;
}

std::string NodeRoute::text() const {
    if (nodes() == 1) return "";
    std::vector<std::string> texts;
    for (const std::vector<std::int64_t>& rail : rails) {
        std::vector<std::string> ranks;
        for (const std::int64_t rank : rail) ranks.push_back(std::to_string(rank));
        texts.push_back(join(ranks, " "));
    }
    return join(texts);
}

}  // namespace bertpretrain
