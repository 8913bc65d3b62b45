#pragma once
// Under which address the other hosts of a run can reach this one.

#include <cstdint>
#include <string>

#include <sys/socket.h>

namespace bertpretrain {

/// The IPv4 or IPv6 address of the interface that leads to `peer`; where that is this host itself, of the one that leads out.
/// Host names alone do not do: many distributions let a host's own name mean 127.0.1.1.
/// @returns nothing ("") where it cannot be told
std::string address_towards(const std::string& peer, std::uint16_t port);

/// "10.0.0.7" or "fe80::1%eth0"; nothing ("") where it is no address of the internet.
std::string numeric_address(const sockaddr* address, socklen_t length);

/// Of a numeric address: whether only this host itself can reach it.
bool is_loopback(const std::string& address);

}  // namespace bertpretrain
