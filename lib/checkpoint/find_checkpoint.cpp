// The members of CheckpointStore that find checkpoints.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "core/strings.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace fs = std::filesystem;

std::string step_folder_name(std::int64_t step) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "step_%08lld", static_cast<long long>(step));
    return name.data();
}

std::optional<std::int64_t> step_of_folder_name(std::string_view name) {
    if (!name.starts_with("step_")) return std::nullopt;
    const std::string_view digits = name.substr(5);
    std::int64_t step = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    const bool whole = failure == std::errc{} && end == digits.data() + digits.size() && step >= 0;
    return whole && step_folder_name(step) == name ? std::optional(step) : std::nullopt;
}

std::vector<std::pair<std::int64_t, fs::path>> CheckpointStore::all() const {
    std::vector<std::pair<std::int64_t, fs::path>> found;
    for (const fs::path& entry : entries_of(folder_))
        if (const auto step = step_of_folder_name(entry.filename().string())) found.emplace_back(*step, entry);
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<fs::path> CheckpointStore::all_complete() const {
    std::vector<fs::path> folders;
    for (auto& [step, folder] : all()) {
        try {
            const CompleteMark mark = read_mark(folder);
            check_sizes(folder, mark);
            if (mark.step == step) folders.push_back(folder);
        } catch (const CheckpointError&) {  // not complete: leave it out
        }
    }
    return folders;
}

std::optional<fs::path> CheckpointStore::newest_complete() const {
    const std::vector<fs::path> complete = all_complete();
    return complete.empty() ? std::nullopt : std::optional(complete.back());
}

std::optional<fs::path> CheckpointStore::best_complete() const { return best_of(all_complete()); }

std::optional<fs::path> CheckpointStore::best_of(const std::vector<fs::path>& folders) {
    std::optional<fs::path> best;
    double lowest = std::numeric_limits<double>::infinity();
    for (const fs::path& folder : folders) {
        try {
            const nlohmann::json progress = read_json(folder / progress_file);
            const double loss = progress.value(held_out_loss_key, std::numeric_limits<double>::infinity());
            if (!(loss < lowest)) continue;
            lowest = loss;
            best = folder;
        } catch (const CheckpointError&) {  // damaged: CheckpointReader reports it
        } catch (const nlohmann::json::exception&) {}
    }
    return best;
}

fs::path CheckpointStore::complete_at(std::int64_t step) const {
    std::vector<std::string> steps;
    for (const fs::path& folder : all_complete()) {
        const std::int64_t here = *step_of_folder_name(folder.filename().string());
        if (here == step) return folder;
        steps.push_back(std::to_string(here));
    }
    throw CheckpointError(concat(folder_.string(), ": no complete checkpoint of step ", step, "; ",
                                 steps.empty()
                                     ? "no other step has one\n  do: without --resume, `train` starts from the beginning"
                                     : "complete ones: " + join(steps)));
}

namespace {

/// Returns where a run's checkpoints may be: the folder itself, its checkpoints, and those of its phases, the last phase first.
std::vector<fs::path> places_of(const fs::path& run) {
    std::vector<fs::path> folders{run, RunPaths(run).checkpoints()};
    for (const fs::path& phase : phases_of_run(run)) folders.insert(folders.begin(), RunPaths(phase).checkpoints());
    return folders;
}

/// @throws CheckpointError saying what is wrong with the newest checkpoint, if it is not complete: an older one would be silently
/// taken for it
void refuse_damaged_newest(const CheckpointStore& store) {
    const auto all = store.all();
    const std::optional<fs::path> newest = store.newest_complete();
    if (all.empty() || (newest && all.back().second == *newest)) return;
    const std::string advice = newest ? concat("\n  do: name an older one: ", newest->string())
                                      : std::string("\n  do: restore it from a copy; the run has no other complete one");
    try {
        const CheckpointReader reader(all.back().second, CheckpointReader::Verify::sizes);
    } catch (const CheckpointError& error) {
        const std::string_view message = error.what(), kind = "checkpoint error: ";
        throw CheckpointError(concat(message.substr(message.starts_with(kind) ? kind.size() : 0), advice));
    }
}

}  // namespace

std::optional<fs::path> newest_of_run(const fs::path& argument) {
    for (const fs::path& folder : places_of(argument))
        if (auto newest = CheckpointStore(folder).newest_complete()) return newest;
    return std::nullopt;
}

bool has_checkpoints(const fs::path& run) {
    return std::ranges::any_of(places_of(run), [](const fs::path& folder) { return !CheckpointStore(folder).all().empty(); });
}

fs::path resolve_checkpoint(const fs::path& argument) {
    if (exists_here(argument / complete_file)) return argument;
    for (const fs::path& folder : places_of(argument)) {
        const CheckpointStore store(folder);
        refuse_damaged_newest(store);
        if (const auto newest = store.newest_complete()) return *newest;
    }
    throw CheckpointError(concat(argument.string(), ": no complete checkpoint: looked for ", complete_file,
                                 " in it, and for step_N/", complete_file,
                                 " in it, in its folder checkpoints and in those of its phases",
                                 exists_here(argument) ? "" : "\n  the folder does not exist"));
}

}  // namespace bertpretrain
