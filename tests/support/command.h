#pragma once
// Runs a program as a user would, and returns its output.

#include <string>

#include <sys/wait.h>

#include "support/files.h"
#include "support/folders.h"

/// The Python interpreter for programs that import PyTorch, transformers or scikit-learn.
#define WARM_PYTHON PYTHON " " PROJECT_FOLDER "/tests/support/warm_python.py"

namespace bertpretrain::testing {

struct CommandResult {
    int exit_code = -1;  ///< 128 + signal number when a signal ended it
    std::string out;     ///< standard output
    std::string err;     ///< standard error
};

/// Runs `command` in a shell in the project's folder, and waits until it has ended.
inline CommandResult run_command(const std::string& command) {
    const TemporaryFolder folder;
    const std::string out = (folder / "out").string(), err = (folder / "err").string();
    const int status = std::system(("cd '" + project_folder() + "' && { " + command + "\n} >" + out + " 2>" + err).c_str());
    CommandResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = read_text(out);
    result.err = read_text(err);
    return result;
}

}  // namespace bertpretrain::testing
