#pragma once
// Line output that does not block its caller when the terminal, pipe or file stalls.

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "core/threads/detached_worker.h"

namespace bertpretrain {

/// Writes lines to a file descriptor in order, from a thread of its own. put() waits up to 0.1 s until its line is written, and
/// not at all while earlier lines are late. Lines that do not fit into the buffer are dropped; their number is written in their
/// place once there is room. Where the system allows no more threads, put() writes itself, and waits. Thread-safe. The destructor
/// does not wait for pending lines; see flush().
class LineWriter {
public:
    static constexpr std::size_t usual_room = std::size_t{1} << 20;

    /// @param descriptor must stay open until the process ends: a blocked write outlives this object
    /// @param room bytes of lines that may wait; as many again may be in the write in progress
    explicit LineWriter(int descriptor, std::size_t room = usual_room);

    /// @param line including its "\n"
    void put(std::string_view line);
    /// Like put(), for text that is useless when late, such as a progress bar. Dropped, uncounted, while earlier text is late.
    void put_unless_late(std::string_view text);
    /// Blocks until everything put so far is written, for at most `seconds`. @returns whether it is written
    bool flush(double seconds);

private:
    struct State;
    std::shared_ptr<State> state_;          ///< shared with the thread
    std::optional<DetachedWorker> thread_;  ///< none: the system allows no more threads
};

}  // namespace bertpretrain
