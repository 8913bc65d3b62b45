#include "distributed/listeners.h"

#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "core/error.h"
#include "support/process.h"

namespace bertpretrain::testing {
namespace fs = std::filesystem;

namespace {

/// Returns "socket:[N]" for every socket of the process.
std::set<std::string> sockets_of(pid_t process) {
    std::set<std::string> sockets;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(concat("/proc/", process, "/fd"), gone))
        sockets.insert(fs::read_symlink(entry.path(), gone).string());
    return sockets;
}

/// Parses an address of the kernel's table: words of eight hexadecimal digits, each in the machine's byte order.
std::string address_of(const std::string& hex) {
    std::array<std::uint32_t, 4> words{};
    for (std::size_t i = 0; i < hex.size() / 8; ++i)
        words.at(i) = static_cast<std::uint32_t>(std::stoul(hex.substr(8 * i, 8), nullptr, 16));
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(hex.size() == 8 ? AF_INET : AF_INET6, words.data(), text, sizeof text);
    return text;
}

}  // namespace

bool Listener::on_loopback() const {
    return address.rfind("127.", 0) == 0 || address == "::1" || address.rfind("::ffff:127.", 0) == 0;
}

std::vector<Listener> listeners_of(pid_t process) {
    const std::set<std::string> own = sockets_of(process);
    std::vector<Listener> listeners;
    for (const char* table : {"tcp", "tcp6"}) {
        std::ifstream lines(concat("/proc/", process, "/net/", table));
        std::string line;
        std::getline(lines, line);  // the heading
        while (std::getline(lines, line)) {
            std::istringstream fields(line);
            std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
            fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
            if (state != "0A" || own.count("socket:[" + inode + "]") == 0) continue;
            const std::size_t colon = local.find(':');
            listeners.push_back({address_of(local.substr(0, colon)),
                                 static_cast<std::uint16_t>(std::stoul(local.substr(colon + 1), nullptr, 16))});
        }
    }
    return listeners;
}

std::vector<Listener> listeners_of_family(pid_t process) {
    std::vector<Listener> listeners = listeners_of(process);
    for (const pid_t child : children_of(process))
        for (Listener& one : listeners_of_family(child)) listeners.push_back(std::move(one));
    return listeners;
}

bool lets_in(const Listener& listener) {
    sockaddr_in six_less{};
    sockaddr_in6 six{};
    six_less.sin_family = AF_INET;
    six.sin6_family = AF_INET6;
    six_less.sin_port = six.sin6_port = htons(listener.port);
    const bool is_v4 = ::inet_pton(AF_INET, listener.address.c_str(), &six_less.sin_addr) == 1;
    if (!is_v4) ::inet_pton(AF_INET6, listener.address.c_str(), &six.sin6_addr);
    const int socket = ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto* address = is_v4 ? reinterpret_cast<const sockaddr*>(&six_less) : reinterpret_cast<const sockaddr*>(&six);
    ::connect(socket, address, is_v4 ? sizeof six_less : sizeof six);
    pollfd ready{socket, POLLOUT, 0};
    int failure = 0;
    socklen_t length = sizeof failure;
    const bool in =
        ::poll(&ready, 1, 500) == 1 && ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &length) == 0 && failure == 0;
    ::close(socket);
    return in;
}

}  // namespace bertpretrain::testing
