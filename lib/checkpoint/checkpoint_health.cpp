#include "checkpoint/checkpoint_health.h"

#include <algorithm>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

bool is_step_folder(const fs::path& folder) { return step_of_folder_name(folder.filename().string()).has_value(); }

void check_whole(const fs::path& folder, CheckpointHealth& health) {
    const CompleteMark mark = read_mark(folder);
    if (const auto named = step_of_folder_name(folder.filename().string()); named && *named != mark.step)
        throw CheckpointError(concat((folder / complete_file).string(), ": damaged: its step is ", mark.step,
                                     ", but its folder is that of step ", *named));
    for (const auto& [name, file] : mark.files) health.bytes += file.bytes;
    const CheckpointReader reader(folder);
    for (const auto file : {model_file, optimizer_file}) PtReader(folder / file).verify();
}

}  // namespace

std::vector<fs::path> step_folders(const fs::path& argument) {
    const fs::path named = argument.has_filename() ? argument : argument.parent_path();  // "step_00000200/"
    if (is_step_folder(named) || exists_here(named / complete_file)) return {named};
    for (const fs::path& parent : {named, named / "checkpoints"}) {
        std::vector<fs::path> folders;
        for (const fs::path& entry : entries_of(parent))
            if (is_step_folder(entry)) folders.push_back(entry);
        std::sort(folders.begin(), folders.end(), [](const fs::path& a, const fs::path& b) {
            return step_of_folder_name(a.filename().string()) < step_of_folder_name(b.filename().string());
        });
        if (!folders.empty()) return folders;
    }
    return {};
}

CheckpointHealth examine_checkpoint(const fs::path& folder) {
    CheckpointHealth health;
    health.folder = folder;
    try {
        check_whole(folder, health);
    } catch (const CheckpointError& error) { health.damage = error.what(); }
    return health;
}

}  // namespace bertpretrain
