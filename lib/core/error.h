#pragma once
// What can go wrong, by who has to act; each kind is an exit code that scripts may rely on.

#include <sstream>
#include <stdexcept>
#include <string>

namespace bertpretrain {

enum class ExitCode : int {
    done = 0,
    config = 2,       ///< the request cannot be met: the user changes it
    data = 3,         ///< a file is missing, damaged or different
    checkpoint = 4,   ///< saving or restoring failed
    distributed = 5,  ///< a peer or the network failed: start again
    numbers = 6,      ///< the training diverged: never started again by itself
    bug = 70,         ///< ours
};

/// An error with a message for people: what, where, found, expected, what to do.
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

/// All arguments written one after the other.
template <class... Parts>
std::string concat(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

/// States a rule of the program itself; a user must not be able to break it.
/// @throws std::logic_error with the rule and `parts` when it does not hold
template <class... Parts>
void check(bool holds, const Parts&... parts) {
    if (!holds) throw std::logic_error(concat("broken rule: ", parts...));
}

}  // namespace bertpretrain
