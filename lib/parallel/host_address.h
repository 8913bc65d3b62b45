#pragma once
// Under which address the other hosts of a run can reach this one.

#include <cstdint>
#include <string>

namespace bertpretrain {

/// The IPv4 or IPv6 address of the interface that leads to `peer`; where that is this host itself, of the one that leads out.
/// Host names alone do not do: many distributions let a host's own name mean 127.0.1.1.
/// @returns nothing ("") where it cannot be told
std::string address_towards(const std::string& peer, std::uint16_t port);

}  // namespace bertpretrain
