#include "train/records/run_folder.h"

#include <algorithm>
#include <iomanip>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/held_folder.h"
#include "train/records/folder_lock.h"

namespace bertpretrain {

struct RunFolder::Hold {
    explicit Hold(const std::filesystem::path& path) : folder(path) {}
    HeldFolder folder;
    std::optional<FolderLock> lock;  ///< on the rank that took the folder
};

void require_no_checkpoint(const std::filesystem::path& folder) {
    const auto whole = std::filesystem::absolute(folder / ".").lexically_normal().parent_path();  // without a last slash
    std::error_code ignored;
    for (auto part = whole; part != part.parent_path(); part = part.parent_path())
        if (std::filesystem::exists(part / complete_file, ignored))
            throw ConfigError(
                concat(folder.string(), part == whole ? ": is a checkpoint" : ": lies in a checkpoint",
                       ", expected a run's folder\n  do: to resume, name the run's folder by --output and its step ",
                       "by --resume; to start a new run from it, use initialization.init_from"));
    const bool has_checkpoints = std::ranges::any_of(folder_entries(whole, ignored), [&](const std::filesystem::path& entry) {
        return std::filesystem::exists(entry / complete_file, ignored);
    });
    if (has_checkpoints)
        throw ConfigError(concat(folder.string(),
                                 ": holds a run's checkpoints, expected a run's folder\n  do: to resume, give --output ",
                                 whole.parent_path().string()));
}

namespace {

/// Writes a random id of 16 hexadecimal digits into a folder that has none.
void give_id(const RunPaths& paths) {
    if (std::filesystem::exists(paths.run_id())) return;
    std::random_device random;
    std::ostringstream id;
    id << std::hex << std::setfill('0') << std::setw(8) << random() << std::setw(8) << random() << '\n';
    write_atomically(paths.run_id(), id.str());
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path, Role role) : paths_(std::move(path)) {
    if (role == Role::joins) return;
    make_writable_folder(paths_.folder());
    hold_ = std::make_shared<Hold>(paths_.folder());
    hold_->lock.emplace(hold_->folder);
    mark_ = hold_->lock->mark();
    write_own_files_in(hold_->folder);
    give_id(RunPaths(hold_->folder.by_descriptor()));
}

bool RunFolder::has(const std::string& mark) {
    if (hold_) return true;
    try {
        auto seen = std::make_shared<Hold>(paths_.folder());
        if (read_file(RunPaths(seen->folder.by_descriptor()).lock()) != mark) return false;
        hold_ = std::move(seen);
    } catch (const Error&) { return false; }  // the folder or its .lock does not exist here
    write_own_files_in(hold_->folder);
    return true;
}

std::optional<LostFolder> RunFolder::lost() const {
    if (!hold_) return std::nullopt;
    const bool is_locked = !hold_->lock || hold_->lock->keep();
    if (!is_locked) return LostFolder{"has a .lock that another process holds", true};
    if (std::string what = hold_->folder.lost(); !what.empty()) return LostFolder{std::move(what)};
    return std::nullopt;
}

void RunFolder::require() const {
    if (const auto lost_folder = lost()) throw CheckpointError(message_of(*lost_folder, paths_));
}

RunPaths RunFolder::places() const {
    if (!hold_) return paths_;
    if (const auto lost_folder = lost(); lost_folder && lost_folder->is_taken)
        throw CheckpointError(message_of(*lost_folder, paths_));
    return RunPaths(hold_->folder.by_descriptor());
}

std::string RunFolder::with_names(const std::string& text) const {
    if (!hold_) return text;
    const std::filesystem::path name = hold_->folder.lost().empty() ? paths_.folder() : name_now(hold_->folder.by_descriptor());
    constexpr std::string_view descriptors = "/proc/self/fd/";  // also occurs in messages from other ranks
    std::string named;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t found = text.find(descriptors, at);
        named += text.substr(at, found - at);
        if (found == text.npos) break;
        named += name.string();
        at = std::min(text.find_first_not_of("0123456789", found + descriptors.size()), text.size());
    }
    return named;
}

std::string message_of(const LostFolder& lost, const RunPaths& paths) {
    return concat(paths.folder().string(), ": the folder in which this run trains ", lost.what, "\n  do: ",
                  lost.is_taken ? "wait for that process, or train in another folder with --output"
                                : "restore the folder's name, or resume with --output set to its new name");
}

}  // namespace bertpretrain
