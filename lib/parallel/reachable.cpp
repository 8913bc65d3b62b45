#include "parallel/reachable.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/concat.h"

namespace bertpretrain {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds between_attempts{200}, longest_attempt{10'000};

/// Returns an errno value; 0: connected.
int connect_to(const addrinfo& address, milliseconds timeout) {
    const int descriptor = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    int error = ::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        pollfd wanted{descriptor, POLLOUT, 0};
        const int ready = ::poll(&wanted, 1, static_cast<int>(timeout.count()));
        socklen_t size = sizeof error;
        if (ready < 0) error = errno;
        else if (ready == 0) error = ETIMEDOUT;
        else if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    }
    ::close(descriptor);
    return error;
}

/// Tries all addresses of a host once. @returns "" if one accepts, else why not
std::string attempt(const std::string& host, std::uint16_t port, milliseconds timeout) {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    if (const int unknown = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found); unknown != 0)
        return ::gai_strerror(unknown);
    std::string cause = "has no address";
    for (const addrinfo* address = found; address != nullptr && !cause.empty(); address = address->ai_next) {
        const int error = connect_to(*address, timeout);
        cause = error == 0 ? "" : std::strerror(error);
    }
    ::freeaddrinfo(found);
    return cause;
}

}  // namespace

void wait_until_reachable(const std::string& host, std::uint16_t port, milliseconds timeout) {
    const auto end = Clock::now() + timeout;
    for (;;) {
        const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
        const std::string cause = attempt(host, port, std::clamp(left, milliseconds(1), longest_attempt));
        if (cause.empty()) return;
        if (Clock::now() + between_attempts >= end) throw std::runtime_error(cause);
        std::this_thread::sleep_for(between_attempts);
    }
}

}  // namespace bertpretrain
