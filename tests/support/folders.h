#pragma once
// Where the programs, the project's files and Python are: beside the build, unless the environment names other places
// (as the portable archive's launcher does).

#include <cstdlib>
#include <string>

namespace bertpretrain::testing {

/// The value of an environment variable, or `otherwise` where it is not set or empty.
inline std::string environment_or(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr || *value == '\0' ? otherwise : value;
}

/// The folder of the built programs and modules.
inline std::string program_folder() { return environment_or("BERTPRETRAIN_TEST_PROGRAMS", PROGRAM_FOLDER); }
/// The folder with configs/ and data_tools/; commands of tests run in it.
inline std::string project_folder() { return environment_or("BERTPRETRAIN_TEST_PROJECT", PROJECT_FOLDER); }
/// The Python interpreter that may have the oracles' packages.
inline std::string python() { return environment_or("BERTPRETRAIN_TEST_PYTHON", PYTHON); }

}  // namespace bertpretrain::testing
