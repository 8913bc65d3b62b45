#include "core/program_version.h"

#include <fstream>

namespace bertpretrain {
namespace {

ProgramVersion& stored_version() {
    static ProgramVersion version;
    return version;
}

}  // namespace

void set_program_version(ProgramVersion version) { stored_version() = std::move(version); }

const ProgramVersion& program_version() { return stored_version(); }

std::string processor_name() {
    std::ifstream lines("/proc/cpuinfo");
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos && (line.starts_with("model name") || line.starts_with("Model Name")))
            return line.substr(colon + 2);
    }
    return "unknown";
}

}  // namespace bertpretrain
