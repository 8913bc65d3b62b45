#include "core/files/line_writer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "core/concat.h"

namespace bertpretrain {
namespace {

constexpr std::chrono::milliseconds longest_wait_of_a_caller(100);

/// @returns the number of lines that could not be written
std::size_t write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count >= 0) {
            text.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {  // another process has made the descriptor non-blocking
            pollfd room{descriptor, POLLOUT, 0};
            ::poll(&room, 1, -1);
        } else if (errno != EINTR) {
            return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        }
    }
    return 0;
}

std::string note(std::size_t dropped) {
    return dropped == 0 ? "" : concat("(", dropped, " line(s) are missing here: they could not be written in time)\n");
}

}  // namespace

struct LineWriter::State {
    const int descriptor;
    const std::size_t room;
    std::mutex mutex;
    std::condition_variable changed;
    std::string waiting;
    std::size_t lost = 0, dropped = 0;     ///< numbers of lines missing before `waiting`, and after it
    std::uint64_t taken = 0, written = 0;  ///< bytes
    bool late = false, closed = false;     ///< late: a put() stopped waiting before its line was written

    void put(std::string_view line) {
        std::unique_lock lock(mutex);
        if ((dropped > 0 && !waiting.empty()) || waiting.size() + line.size() > room) {
            ++dropped;
            return;
        }
        waiting += line;
        const std::uint64_t end = taken += line.size();
        changed.notify_all();
        if (!late) late = !changed.wait_for(lock, longest_wait_of_a_caller, [&] { return written >= end; });
    }

    void run() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [&] { return !waiting.empty() || closed; });
            if (waiting.empty()) return;
            const std::string batch = std::exchange(waiting, {});
            const std::size_t before = std::exchange(lost, 0), after = std::exchange(dropped, 0);
            lock.unlock();
            const std::size_t failed = write_all(descriptor, note(before) + batch + note(after));
            lock.lock();
            lost += failed;
            written += batch.size();
            if (waiting.empty()) late = false;
            changed.notify_all();
        }
    }
};

LineWriter::LineWriter(int descriptor, std::size_t room) : state_(std::make_shared<State>(descriptor, room)) {
    std::thread([state = state_] { state->run(); }).detach();
}

LineWriter::~LineWriter() {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    state_->changed.notify_all();
}

void LineWriter::put(std::string_view line) { state_->put(line); }

void LineWriter::put_unless_late(std::string_view text) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->late || state_->waiting.size() + text.size() > state_->room) return;
    }
    state_->put(text);
}

bool LineWriter::flush(double seconds) {
    std::unique_lock lock(state_->mutex);
    const std::uint64_t end = state_->taken;
    return state_->changed.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return state_->written >= end; });
}

}  // namespace bertpretrain
