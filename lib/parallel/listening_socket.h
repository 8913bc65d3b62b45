#pragma once
// TCP sockets that wait for connections: on which interface, and until when.

#include <cstdint>
#include <string>
#include <vector>

namespace bertpretrain {

/// A socket that listens as long as this lives.
class ListeningSocket {
public:
    /// Listens on the interface that has the address of `host` (a name, or an IPv4 or IPv6 address). Where none of this host's
    /// interfaces has it (a translated or virtual address), or it is a loopback address and `others_come`, on all of them.
    /// @throws DistributedError when the port is taken
    ListeningSocket(const std::string& host, std::uint16_t port, bool others_come);
    ListeningSocket(const ListeningSocket&) = delete;
    ListeningSocket& operator=(const ListeningSocket&) = delete;
    ~ListeningSocket();

    int descriptor() const { return socket_; }
    /// The numeric address that it listens at; "" where that is all of this host's.
    const std::string& address() const { return address_; }

private:
    int socket_ = -1;
    std::string address_;
};

/// The descriptors of all listening sockets of this process.
std::vector<int> listening_sockets();

/// From now on the socket answers no new connection; those that it has accepted go on. Another descriptor of the same socket
/// (a library's) may go on waiting for connections undisturbed. Does nothing where the kernel has no socket filters.
void admit_no_more(int listening_socket);

}  // namespace bertpretrain
