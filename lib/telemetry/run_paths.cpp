#include "telemetry/run_paths.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "core/error.h"
#include "core/files/files.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr const char* phases_folder = "phases";

/// Whether a name has the form 01_NAME.
bool is_phase_name(const std::string& name) {
    const auto is_digit = [&](std::size_t at) { return std::isdigit(static_cast<unsigned char>(name[at])) != 0; };
    return name.size() > 3 && is_digit(0) && is_digit(1) && name[2] == '_';
}

}  // namespace

std::filesystem::path RunPaths::phase(std::size_t number, const std::string& name) const {
    return folder_ / phases_folder / concat(number < 10 ? "0" : "", number, "_", name);
}

std::filesystem::path run_folder(const std::string& output, const std::filesystem::path& experiment) {
    return output.empty() ? std::filesystem::path("runs") / experiment.stem() : std::filesystem::path(output);
}

bool is_phase_of_run(const std::filesystem::path& folder) {
    return is_phase_name(folder.filename().string()) && folder.parent_path().filename() == phases_folder;
}

std::vector<std::filesystem::path> phases_of_run(const std::filesystem::path& run) {
    std::error_code ignored;
    std::vector<std::filesystem::path> phases = folder_entries(run / phases_folder, ignored);
    std::erase_if(phases, [&](const std::filesystem::path& entry) {
        return !is_phase_name(entry.filename().string()) || !std::filesystem::is_directory(entry, ignored);
    });
    std::ranges::sort(phases);
    return phases;
}

void require_no_phases(const std::filesystem::path& run) {
    std::vector<std::string> names;
    for (const std::filesystem::path& phase : phases_of_run(run)) names.push_back(phase.string());
    if (!names.empty())
        throw ConfigError(
            concat(run.string(), ": is a run with phases, expected one run\n  do: name one of its phases: ", join(names)));
}

}  // namespace bertpretrain
