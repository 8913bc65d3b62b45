#pragma once
// Where processes listen for TCP connections, and whether they let one in.

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bertpretrain::testing {

struct Listener {
    std::string address;  ///< numeric, IPv4 or IPv6; "0.0.0.0" and "::" are all interfaces
    std::uint16_t port = 0;
    bool on_loopback() const;
};

/// The listening TCP sockets that the process holds, in its own network namespace.
std::vector<Listener> listeners_of(pid_t process);

/// Those of the process and of all that it has started.
std::vector<Listener> listeners_of_family(pid_t process);

/// Connects and hangs up. @returns whether the connection came about within half a second
bool lets_in(const Listener& listener);

}  // namespace bertpretrain::testing
