#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/error.h"

namespace bertpretrain::testing {

/// Returns a TCP port that no process of this host uses at the moment. Numbers made of process ids would meet those of tests that
/// run at the same time.
inline int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    const bool is_bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                          ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(socket);
    check(is_bound, "a free port is found");
    return ntohs(address.sin_port);
}

}  // namespace bertpretrain::testing
