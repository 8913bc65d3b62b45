#pragma once
// Finds the TCP ports on which processes listen, and checks whether they accept connections.

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

/// Returns the process's listening TCP sockets, in its own network namespace.
std::vector<Listener> listeners_of(pid_t process);

/// Returns those of the process and of all its descendants.
std::vector<Listener> listeners_of_family(pid_t process);

/// Connects and closes the connection. @returns whether it was accepted within half a second
bool lets_in(const Listener& listener);

}  // namespace bertpretrain::testing
