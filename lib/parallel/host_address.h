#pragma once
// Finds the address at which the other hosts of a run can reach this one.

#include <cstdint>
#include <string>

#include <sys/socket.h>

namespace bertpretrain {

/// Returns the numeric IPv4 or IPv6 address of the interface that routes to `peer`. Where `peer` is this host itself, returns
/// that of the default route, or of the first IPv4 interface that is up. Resolving the host's own name is not enough: many
/// distributions map it to 127.0.1.1.
/// @returns "" where no address was found
std::string address_towards(const std::string& peer, std::uint16_t port);

/// Formats an address as "10.0.0.7" or "fe80::1%eth0"; returns "" for other address families.
std::string numeric_address(const sockaddr* address, socklen_t length);

/// Whether a numeric address is a loopback address.
bool is_loopback(const std::string& address);

}  // namespace bertpretrain
