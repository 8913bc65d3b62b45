#include "parallel/peer_names.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/error.h"
#include "core/host_name.h"
#include "parallel/host_address.h"

namespace bertpretrain {
namespace {

/// An IPv4 address that an IPv6 socket has is the same address.
std::string plain(std::string address) {
    constexpr std::string_view mapped = "::ffff:";
    return address.starts_with(mapped) ? address.substr(mapped.size()) : address;
}

}  // namespace

std::string own_sockets() {
    std::map<std::string, std::string> ports_by_address;
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", unreadable)) {
        sockaddr_storage storage{};
        socklen_t length = sizeof storage;
        const auto* address = reinterpret_cast<const sockaddr*>(&storage);
        if (::getsockname(std::stoi(entry.path().filename().string()), reinterpret_cast<sockaddr*>(&storage), &length) != 0)
            continue;
        if (address->sa_family != AF_INET && address->sa_family != AF_INET6) continue;
        const std::uint16_t port =
            ntohs(address->sa_family == AF_INET ? reinterpret_cast<const sockaddr_in*>(address)->sin_port
                                                : reinterpret_cast<const sockaddr_in6*>(address)->sin6_port);
        ports_by_address[plain(numeric_address(address, length))] += concat(" ", port);
    }
    std::string text = host_name();
    for (const auto& [address, ports] : ports_by_address) text += concat("\n", address, ports);
    return text;
}

PeerNames::PeerNames(const std::vector<std::string>& sockets) {
    for (const std::string& text : sockets) {
        Peer peer;
        std::istringstream lines(text);
        std::getline(lines, peer.host);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string address, port;
            words >> address;
            while (words >> port) peer.sockets.push_back(address + ":" + port);
        }
        std::sort(peer.sockets.begin(), peer.sockets.end());
        peers_.push_back(std::move(peer));
    }
}

std::string PeerNames::name(std::size_t rank) const {
    return rank < peers_.size() ? concat("rank ", rank, " on ", peers_[rank].host) : concat("rank ", rank);
}

std::string PeerNames::find(std::string_view message) const {
    const std::size_t close = message.rfind("]:"), open = message.rfind('[', close);
    if (close == message.npos || open == message.npos) return "";
    const std::size_t port = close + 2, end = std::min(message.find_first_not_of("0123456789", port), message.size());
    const std::string socket =
        concat(plain(std::string(message.substr(open + 1, close - open - 1))), ":", message.substr(port, end - port));
    std::string found;
    for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
        if (!std::binary_search(peers_[rank].sockets.begin(), peers_[rank].sockets.end(), socket)) continue;
        if (!found.empty()) return "";
        found = name(rank);
    }
    return found;
}

}  // namespace bertpretrain
