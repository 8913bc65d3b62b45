#pragma once
// Starts a user's shell command that lives beside this program.

#include <string>
#include <vector>

#include <sys/types.h>

namespace bertpretrain {

struct ShellCommand {
    std::string command;                        ///< for `sh -c`
    std::string name, argument;                 ///< its $0 and $1
    std::vector<std::string> more_variables{};  ///< NAME=VALUE, besides this program's environment
    int input = -1;                             ///< descriptor of its standard input; -1: this program's
};

/// Starts a command without waiting for it. Of this program's open files it gets the standard ones and `input`; the
/// connections to other ranks stay closed, which would otherwise not notice this process's death. A session of its own shields it
/// from signals to this terminal or process group. Signals that this program ignores have their default actions in it.
/// @param process receives the process id, which is also its group's @returns 0, or the errno
int spawn_shell(const ShellCommand& command, pid_t& process);

/// Returns pointers to the texts and a null pointer, as exec takes them. They are valid as long as `texts` is unchanged.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace bertpretrain
