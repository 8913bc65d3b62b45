#pragma once
// Text for a terminal, a pipe or a file that may stop taking it.

#include <cstddef>
#include <memory>
#include <string_view>

namespace bertpretrain {

/// Writes lines to a file descriptor by a thread of its own, in their order. A caller waits a tenth of a second at most until its
/// line is written, and not at all while earlier lines wait. Lines that find no room are dropped; their number is written in
/// their place once there is room. Thread-safe.
class LineWriter {
public:
    static constexpr std::size_t usual_room = std::size_t{1} << 20;

    /// @param descriptor must stay open as long as the process: a write that hangs outlives this object
    /// @param room bytes of lines that may wait; as many again may be under way
    explicit LineWriter(int descriptor, std::size_t room = usual_room);
    LineWriter(const LineWriter&) = delete;
    LineWriter& operator=(const LineWriter&) = delete;
    ~LineWriter();  ///< does not wait; see flush()

    /// @param line with its "\n"
    void put(std::string_view line);
    /// The same for text that is worthless later, as a drawn progress bar: it is left out, uncounted, while earlier text waits.
    void put_unless_late(std::string_view text);
    /// Waits until all is written, or so many seconds have passed. @returns whether all is written
    bool flush(double seconds);

private:
    struct State;
    std::shared_ptr<State> state_;  ///< shared with the thread
};

}  // namespace bertpretrain
