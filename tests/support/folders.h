#pragma once
// Paths of the programs, the project's files and Python: those of the build, unless environment variables name others (the
// portable archive's launcher sets them).

#include <cstdlib>
#include <string>

namespace bertpretrain::testing {

/// Returns the value of an environment variable, or `otherwise` if it is not set or empty.
inline std::string environment_or(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr || *value == '\0' ? otherwise : value;
}

/// The folder of the built programs and modules.
inline std::string program_folder() { return environment_or("BERTPRETRAIN_TEST_PROGRAMS", PROGRAM_FOLDER); }
/// The folder with configs/ and data_tools/; commands of tests run in it.
inline std::string project_folder() { return environment_or("BERTPRETRAIN_TEST_PROJECT", PROJECT_FOLDER); }
/// The Python interpreter for oracles, which may lack their packages.
inline std::string python() { return environment_or("BERTPRETRAIN_TEST_PYTHON", PYTHON); }

}  // namespace bertpretrain::testing
