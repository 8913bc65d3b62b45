#pragma once
// The version of the running program and of its libraries, for the records of a run.

#include <string>
#include <utility>
#include <vector>

namespace bertpretrain {

struct ProgramVersion {
    std::string program, version, commit;  ///< empty in a process that has not set them, such as a unit test
    std::vector<std::pair<std::string, std::string>> libraries;  ///< {"libtorch", "2.11.0"}
};

/// Sets what program_version() returns. Call it once, before any thread is started.
void set_program_version(ProgramVersion version);
const ProgramVersion& program_version();

/// Returns the model name of this machine's processor; "unknown" where the system does not report it.
std::string processor_name();

}  // namespace bertpretrain
