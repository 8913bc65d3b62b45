#pragma once
// Waits for a server of another process.

#include <chrono>
#include <cstdint>
#include <string>

namespace bertpretrain {

/// Blocks until something accepts connections at `host`:`port`, which need not exist or have a name yet.
/// @param host a name, or a numeric IPv4 or IPv6 address
/// @throws std::runtime_error with the cause of the last attempt when that takes longer than `timeout`
void wait_until_reachable(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout);

}  // namespace bertpretrain
