#pragma once
// Finds out which rank a library's error message is about.

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Returns what a rank tells the others about itself: its host's name, and the local addresses and ports of its TCP sockets.
std::string own_sockets();

/// The sockets of all ranks.
class PeerNames {
public:
    /// @param sockets own_sockets() of all ranks, rank 0 first
    explicit PeerNames(const std::vector<std::string>& sockets);

    /// Returns "rank 2 on host-b" for a rank.
    std::string name(std::size_t rank) const;

    /// Returns the name of the rank whose socket "[ADDRESS]:PORT" a message names; "" if it names none, or if it may be of
    /// several ranks (ranks that are threads of one process).
    std::string find(std::string_view message) const;

private:
    struct Peer {
        std::string host;
        std::vector<std::string> sockets;  ///< "ADDRESS:PORT", sorted
    };

    std::vector<Peer> peers_;
};

}  // namespace bertpretrain
