// Connects network namespaces through interfaces whose packets arrive late, or not at all:
//   delay_relay MICROSECONDS LOST NAME...
// Creates a TUN interface per NAME and prints "ready". The caller moves each into its namespace and gives the i-th one, counted
// from 0, an IPv4 address whose last number is i + 1. A packet is delivered MICROSECONDS after it was read, in order; of 1,000,
// LOST are dropped at random. Runs until it is killed.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr std::size_t largest_packet = 65536;
constexpr std::size_t destination_at = 19;  // the last byte of the destination in an IPv4 header
constexpr std::int64_t billion = 1'000'000'000;

struct Packet {
    std::int64_t due;  ///< nanoseconds of the monotonic clock
    int to;            ///< file descriptor
    std::vector<char> bytes;
};

[[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "delay_relay: %s: %s\n", what.c_str(), std::strerror(errno));
    std::exit(1);
}

std::int64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * billion + time.tv_nsec;
}

int open_tun(const std::string& name) {
    const int tun = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun < 0) give_up("/dev/net/tun");
    ifreq request{};
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
    if (::ioctl(tun, TUNSETIFF, &request) != 0) give_up(name);
    return tun;
}

/// Reads all packets that wait, and queues those for another interface. Drops what is not IPv4, and `lost` of 1,000.
void read_from(const pollfd& tun, const std::vector<pollfd>& all, std::int64_t delay, unsigned lost, std::deque<Packet>& queue) {
    static std::vector<char> buffer(largest_packet);
    static std::mt19937 random(1);
    for (;;) {
        const ssize_t count = ::read(tun.fd, buffer.data(), buffer.size());
        if (count <= 0) return;
        const bool is_ipv4 = static_cast<std::size_t>(count) > destination_at && (buffer[0] & 0xF0) == 0x40;
        const auto number = static_cast<unsigned char>(buffer[destination_at]);
        if (is_ipv4 && number >= 1 && number <= all.size() && random() % 1000 >= lost)
            queue.push_back({now() + delay, all[number - 1U].fd, {buffer.begin(), buffer.begin() + count}});
    }
}

/// Delivers what is due. @returns nanoseconds until the next packet is due; a second if there is none
std::int64_t deliver(std::deque<Packet>& queue) {
    while (!queue.empty()) {
        const std::int64_t left = queue.front().due - now();
        if (left > 0) return left;
        const Packet& packet = queue.front();
        static_cast<void>(
            !::write(packet.to, packet.bytes.data(), packet.bytes.size()));  // a full interface drops it, as networks do
        queue.pop_front();
    }
    return billion;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 4) {
        std::fprintf(stderr, "usage: delay_relay MICROSECONDS LOST NAME...\n");
        return 2;
    }
    const std::int64_t delay = std::atoll(arguments[1]) * 1000;
    const auto lost = static_cast<unsigned>(std::atoi(arguments[2]));
    std::vector<pollfd> tuns;
    for (int i = 3; i < count; ++i) tuns.push_back({open_tun(arguments[i]), POLLIN, 0});
    ::prctl(PR_SET_TIMERSLACK, 1);  // nanosecond; else the kernel may wake this thread 50 us late
    std::puts("ready");
    std::fflush(stdout);
    std::deque<Packet> queue;
    for (;;) {
        const std::int64_t left = deliver(queue);
        const timespec timeout{left / billion, left % billion};
        if (::ppoll(tuns.data(), tuns.size(), &timeout, nullptr) < 0 && errno != EINTR) give_up("ppoll");
        for (const pollfd& tun : tuns)
            if ((tun.revents & POLLIN) != 0) read_from(tun, tuns, delay, lost, queue);
    }
}
