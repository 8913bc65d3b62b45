#include "parallel/listening_socket.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <linux/filter.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/error.h"
#include "parallel/host_address.h"

namespace bertpretrain {
namespace {

void set(int socket, int level, int option, int value) { ::setsockopt(socket, level, option, &value, sizeof value); }

/// @returns a listening socket; -1 with errno set on failure
int listen_at(const sockaddr* address, socklen_t length) {
    const int socket = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return -1;
    set(socket, SOL_SOCKET, SO_REUSEADDR, 1);  // the port may have connections in TIME_WAIT from a run that has just ended
    if (address->sa_family == AF_INET6) set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (::bind(socket, address, length) == 0 && ::listen(socket, SOMAXCONN) == 0) return socket;
    const int reason = errno;
    ::close(socket);
    errno = reason;
    return -1;
}

int listen_everywhere(std::uint16_t port) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    const int socket = listen_at(reinterpret_cast<const sockaddr*>(&six), sizeof six);
    if (socket >= 0 || errno == EADDRINUSE) return socket;
    sockaddr_in four{};  // for a kernel without IPv6
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return listen_at(reinterpret_cast<const sockaddr*>(&four), sizeof four);
}

}  // namespace

ListeningSocket::ListeningSocket(const std::string& host, std::uint16_t port, bool others_come) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) found = nullptr;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> kept(found, [](addrinfo* list) {
        if (list != nullptr) ::freeaddrinfo(list);
    });
    bool taken = false;
    for (const addrinfo* one = found; one != nullptr && socket_ < 0; one = one->ai_next) {
        const std::string address = numeric_address(one->ai_addr, one->ai_addrlen);
        if (others_come && is_loopback(address)) continue;  // many distributions map a host's own name to 127.0.1.1
        socket_ = listen_at(one->ai_addr, one->ai_addrlen);
        if (socket_ >= 0 && address != "0.0.0.0" && address != "::") address_ = address;
        taken = taken || (socket_ < 0 && errno == EADDRINUSE);
    }
    if (socket_ < 0 && !taken) socket_ = listen_everywhere(port);
    if (socket_ < 0)
        throw DistributedError(concat("rank 0 cannot listen at ", host, ":", port,
                                      " (MASTER_ADDR, MASTER_PORT): ", std::strerror(taken ? EADDRINUSE : errno),
                                      "\n  do: choose a port that is free on rank 0's host"));
}

ListeningSocket::~ListeningSocket() { ::close(socket_); }

std::vector<int> listening_sockets() {
    std::vector<int> sockets;
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", unreadable)) {
        const int descriptor = std::stoi(entry.path().filename().string());
        int listens = 0;
        socklen_t length = sizeof listens;
        if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0)
            sockets.push_back(descriptor);
    }
    return sockets;
}

void admit_no_more(int listening_socket) {
    // A filter that accepts no byte of a packet drops connection requests before they reach the queue. Closing or shutting down
    // a socket that a library polls would make the library's loop fail or spin instead.
    sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog program{1, &nothing};
    static_cast<void>(::setsockopt(listening_socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
}

}  // namespace bertpretrain
