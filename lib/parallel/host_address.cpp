#include "parallel/host_address.h"

#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bertpretrain {
namespace {

/// Returns the local address that the routing table selects. Connecting a datagram socket sends no packet.
std::string route_to(const std::string& peer, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(peer.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return "";
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> kept(found, ::freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        const int socket = ::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (socket < 0) continue;
        sockaddr_storage own{};
        socklen_t length = sizeof own;
        const bool routed = ::connect(socket, one->ai_addr, one->ai_addrlen) == 0 &&
                            ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) == 0;
        ::close(socket);
        if (routed) return numeric_address(reinterpret_cast<sockaddr*>(&own), length);
    }
    return "";
}

std::string first_outward_interface() {
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return "";
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> kept(found, ::freeifaddrs);
    for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) != 0 &&
            (one->ifa_flags & IFF_LOOPBACK) == 0)
            return numeric_address(one->ifa_addr, sizeof(sockaddr_in));
    return "";
}

}  // namespace

std::string numeric_address(const sockaddr* address, socklen_t length) {
    char host[NI_MAXHOST] = "";
    if (::getnameinfo(address, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) return "";
    return host;
}

bool is_loopback(const std::string& address) { return address.rfind("127.", 0) == 0 || address == "::1"; }

std::string address_towards(const std::string& peer, std::uint16_t port) {
    std::string address = route_to(peer, port);
    if (!address.empty() && !is_loopback(address)) return address;
    address = route_to("192.0.2.1", 9);  // TEST-NET-1 (RFC 5737): takes the default route
    return !address.empty() && !is_loopback(address) ? address : first_outward_interface();
}

}  // namespace bertpretrain
