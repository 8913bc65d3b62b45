#pragma once
// Error types, grouped by what must be done about them. Each has an exit code that scripts may rely on.

#include <sstream>
#include <stdexcept>
#include <string>

namespace bertpretrain {

enum class ExitCode : int {
    done = 0,
    config = 2,       ///< the request cannot be fulfilled; the user must change it
    data = 3,         ///< a file is missing, damaged or not the expected one
    checkpoint = 4,   ///< saving or restoring failed
    distributed = 5,  ///< a peer or the network failed; a restart may help
    numbers = 6,      ///< training diverged; never restarted automatically
    bug = 70,         ///< a bug in this program
};

/// An error whose message tells the user what was wrong, where, what was found, what was expected and what to do next.
class Error : public std::runtime_error {
public:
    Error(ExitCode code, const std::string& kind, const std::string& message)
        : std::runtime_error(kind + " error: " + message), code_(code) {}
    ExitCode code() const { return code_; }

private:
    ExitCode code_;
};

struct ConfigError : Error {
    explicit ConfigError(const std::string& message) : Error(ExitCode::config, "config", message) {}
};
struct DataError : Error {
    explicit DataError(const std::string& message) : Error(ExitCode::data, "data", message) {}
};
struct CheckpointError : Error {
    explicit CheckpointError(const std::string& message) : Error(ExitCode::checkpoint, "checkpoint", message) {}
};
struct DistributedError : Error {
    explicit DistributedError(const std::string& message) : Error(ExitCode::distributed, "distributed", message) {}
};
struct NumbersError : Error {
    explicit NumbersError(const std::string& message) : Error(ExitCode::numbers, "numbers", message) {}
};

/// Streams all arguments into one string.
template <class... Parts>
std::string concat(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

/// Checks an invariant of the program, one that no user input can violate.
/// @throws std::logic_error with `parts` when `holds` is false
template <class... Parts>
void check(bool holds, const Parts&... parts) {
    if (!holds) throw std::logic_error(concat("check failed: ", parts...));
}

}  // namespace bertpretrain
