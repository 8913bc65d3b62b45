#include "core/shell_command.h"

#include <spawn.h>
#include <unistd.h>

#include "core/signals.h"

namespace bertpretrain {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

int spawn_shell(const ShellCommand& command, pid_t& process) {
    std::vector<std::string> texts{"sh", "-c", command.command, command.name, command.argument}, variables;
    for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
    variables.insert(variables.end(), command.more_variables.begin(), command.more_variables.end());
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    const sigset_t ignored = signals_ignored_here();
    ::posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    if (command.input >= 0) ::posix_spawn_file_actions_adddup2(&files, command.input, STDIN_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    const int failure =
        ::posix_spawn(&process, "/bin/sh", &files, &attributes, pointers_to(texts).data(), pointers_to(variables).data());
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    return failure;
}

}  // namespace bertpretrain
