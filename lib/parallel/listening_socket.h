#pragma once
// TCP sockets that listen on one interface and can stop accepting connections.

#include <cstdint>
#include <string>
#include <vector>

namespace bertpretrain {

/// A socket that listens as long as this object lives.
class ListeningSocket {
public:
    /// Listens on the interface with the address of `host` (a name, or an IPv4 or IPv6 address). Listens on all interfaces where
    /// none has this address (NAT or a virtual address), or where it is a loopback address and other hosts must connect
    /// (`others_come`).
    /// @throws DistributedError when the port is taken or listening fails
    ListeningSocket(const std::string& host, std::uint16_t port, bool others_come);
    ListeningSocket(const ListeningSocket&) = delete;
    ListeningSocket& operator=(const ListeningSocket&) = delete;
    ~ListeningSocket();

    int descriptor() const { return socket_; }
    /// Returns the numeric address that the socket listens at; "" for all addresses of this host.
    const std::string& address() const { return address_; }

private:
    int socket_ = -1;
    std::string address_;
};

/// Returns the descriptors of all listening sockets of this process.
std::vector<int> listening_sockets();

/// Makes the socket ignore new connection requests; accepted connections stay open. A library that polls another descriptor of
/// the same socket is not disturbed. Does nothing where the kernel has no socket filters.
void admit_no_more(int listening_socket);

}  // namespace bertpretrain
