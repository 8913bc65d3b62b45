// The interface on which rank 0's store listens, and when it stops accepting connections.
#include "parallel/listening_socket.h"

#include <algorithm>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

std::uint16_t port_of(const ListeningSocket& socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    REQUIRE(::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);  // at the same offset for IPv6
}

/// Connects to a port of 127.0.0.1. @returns the socket; -1 without a connection within half a second
int connect_to(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    pollfd ready{socket, POLLOUT, 0};
    int failure = 0;
    socklen_t length = sizeof failure;
    if (::poll(&ready, 1, 500) == 1 && ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &length) == 0 && failure == 0)
        return socket;
    ::close(socket);
    return -1;
}

}  // namespace

TEST_CASE("a socket listens at the address of its host name if this host has it, else on all interfaces") {
    CHECK(ListeningSocket("127.0.0.1", 0, false).address() == "127.0.0.1");
    CHECK(ListeningSocket("localhost", 0, false).address() != "");
    CHECK(ListeningSocket("localhost", 0, true).address() == "");    // other hosts cannot reach a loopback address
    CHECK(ListeningSocket("203.0.113.1", 0, true).address() == "");  // TEST-NET-3 (RFC 5737): no host has it
    CHECK(ListeningSocket("no-such-host.invalid", 0, true).address() == "");
    CHECK(ListeningSocket("0.0.0.0", 0, true).address() == "");
}

TEST_CASE("a port that is taken is refused with its number") {
    const ListeningSocket first("127.0.0.1", 0, false);
    const std::uint16_t port = port_of(first);
    CHECK_THROWS_WITH(ListeningSocket("127.0.0.1", port, false),
                      Catch::Contains(concat("127.0.0.1:", port)) && Catch::Contains("Address already in use"));
}

TEST_CASE("a socket that admits no more keeps its connections and ignores new ones") {
    const ListeningSocket socket("127.0.0.1", 0, false);
    const auto listening = listening_sockets();
    CHECK(std::find(listening.begin(), listening.end(), socket.descriptor()) != listening.end());
    const int early = connect_to(port_of(socket));
    REQUIRE(early >= 0);
    const int accepted = ::accept(socket.descriptor(), nullptr, nullptr);
    REQUIRE(accepted >= 0);
    admit_no_more(socket.descriptor());
    CHECK(connect_to(port_of(socket)) == -1);
    char received = 0;
    CHECK(::send(early, "x", 1, MSG_NOSIGNAL) == 1);
    CHECK(::recv(accepted, &received, 1, 0) == 1);
    CHECK(received == 'x');
    ::close(early);
    ::close(accepted);
}
