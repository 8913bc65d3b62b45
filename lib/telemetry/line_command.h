#pragma once
// A user's program that reads a run's records as they are written, for a service such as Weights & Biases or MLflow.

#include <filesystem>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace bertpretrain {

/// Starts a shell command and writes lines to its standard input, without ever waiting for it. Lines that it does not take at
/// once are kept in memory, up to most_kept bytes; further ones are dropped. A command that ends, and dropped lines, are logged
/// once. The last line may be cut. The command sees the end of its input when this object is destroyed or this process dies, and
/// is not waited for. Not thread-safe.
class LineCommand {
public:
    /// @param command for /bin/sh, with the run's folder as $1; empty: starts nothing. It gets default signal actions and a
    /// session
    ///                of its own, and inherits standard output and error
    LineCommand(const std::string& command, const std::filesystem::path& run);
    LineCommand(const LineCommand&) = delete;
    LineCommand& operator=(const LineCommand&) = delete;
    ~LineCommand();

    /// Never blocks. @param line without its "\n"
    void send(std::string_view line) noexcept;

    static constexpr std::size_t most_kept = std::size_t{4} << 20;

private:
    void write_kept();
    void give_up(const std::string& why);

    pid_t process_ = -1;
    int pipe_ = -1;     ///< write end; -1: no command, or it has ended
    std::string kept_;  ///< whole lines, but for a first one that is partly written
    bool has_dropped_ = false;
};

}  // namespace bertpretrain
