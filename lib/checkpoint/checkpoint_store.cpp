#include "checkpoint/checkpoint_store.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/slice_writer.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/strings.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// Large enough for large folios in the page cache: parts of 1 MiB took three times as long (ext4, Linux 6.18).
constexpr std::size_t copy_part_bytes = std::size_t{8} << 20;

/// Bytes per fsync: a single fsync of tens of gigabytes would look like a hang on a slow disk.
constexpr std::size_t flushed_at_once = std::size_t{512} << 20;

/// Suffix of an old checkpoint that is being replaced by a new one of the same step.
constexpr std::string_view replaced_ending = ".old.partial";

/// Renames a finished folder to its final name, replacing a checkpoint of the same step from an earlier attempt.
void put_in_place(const fs::path& partial, const fs::path& place) {
    if (!exists_here(place)) return move_folder(partial, place);
    // Swap atomically where the file system supports it, so that a complete checkpoint exists at every moment.
    if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0) {
        const fs::path old = place.string() + std::string(replaced_ending);  // if killed now, remove_unfinished() restores it
        move_folder(place, old);
        try {
            move_folder(partial, place);
        } catch (...) {
            move_folder(old, place);
            throw;
        }
        return remove_folder(old);
    }
    remove_folder(partial);
}

/// Restores the name of a checkpoint whose replacement did not reach its final name. @returns whether it did
bool put_back(const fs::path& folder) {
    const std::string name = folder.string();
    if (!name.ends_with(replaced_ending) || !exists_here(folder / complete_file)) return false;
    const fs::path place = name.substr(0, name.size() - replaced_ending.size());
    if (exists_here(place)) return false;
    move_folder(folder, place);
    return true;
}

/// Whether a name is that of a checkpoint that is being written, replaced or fetched: "step_00000200.partial", ".old.partial",
/// ".fetched.partial". Nothing else in the folder is deleted.
bool is_unfinished(std::string_view name) {
    if (!name.ends_with(".partial")) return false;
    name.remove_suffix(std::string_view(".partial").size());
    for (const std::string_view of : {".old", ".fetched"})
        if (name.ends_with(of)) return step_of_folder_name(name.substr(0, name.size() - of.size())).has_value();
    return step_of_folder_name(name).has_value();
}

std::string json_text(const nlohmann::json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<WrittenPiece> collected(const std::vector<SaveReceipt>& receipts, std::vector<WrittenPiece> SaveReceipt::*member) {
    std::vector<WrittenPiece> all;
    for (const SaveReceipt& receipt : receipts) all.insert(all.end(), (receipt.*member).begin(), (receipt.*member).end());
    return all;
}

}  // namespace

fs::path CheckpointStore::partial_folder(std::int64_t step) const { return folder_ / (step_folder_name(step) + ".partial"); }

void CheckpointStore::remove_unfinished() const {
    for (const fs::path& entry : entries_of(folder_))
        if (is_unfinished(entry.filename().string()) && !put_back(entry)) remove_folder(entry);
}

void CheckpointStore::begin(const TrainingState& state) const {
    std::error_code failure;
    fs::create_directory(folder_, failure);  // not its parents: a run's folder that was removed must not reappear
    if (failure) throw CheckpointError(concat(folder_.string(), ": cannot be created (", failure.message(), ")"));
    remove_unfinished();
    // Checked first, so that a failing save does not fill the disk, on which other files are written too.
    const std::uint64_t needed = checkpoint_bytes(state);
    if (const auto room = free_bytes_of(folder_); room && *room < needed)
        throw CheckpointError(concat(
            folder_.string(), ": no space for a checkpoint: it needs ", bytes_text(needed), ", but only ", bytes_text(*room),
            " are free\n  do: free some space, or keep fewer checkpoints (checkpoint.keep_last, keep_every_steps)"));
    const fs::path partial = partial_folder(state.step);
    try {
        if (!fs::create_directory(partial, failure))
            throw CheckpointError(concat(partial.string(), ": cannot be created (", failure.message(), ")"));
        const PtWriter model(partial / model_file, model_layout(state), PtWriter::Open::create);
        const PtWriter optimizer(partial / optimizer_file, optimizer_layout(state), PtWriter::Open::create);
    } catch (...) {
        abandon(state.step);
        throw;
    }
}

void CheckpointStore::await_begun(std::int64_t step, std::chrono::milliseconds timeout) const noexcept {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!exists_here(partial_folder(step) / optimizer_file) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

SaveReceipt CheckpointStore::write(const TrainingState& state, const std::function<void()>& sign_of_life) const {
    SliceWriter writer(partial_folder(state.step), state);
    std::size_t unflushed = 0;
    for (const SlicePart& part : slice_parts(state, copy_part_bytes)) {
        writer.write(part);
        if ((unflushed += part.bytes.size()) >= flushed_at_once) {
            writer.flush();
            unflushed = 0;
        }
        if (sign_of_life) sign_of_life();
    }
    return writer.flush();
}

fs::path CheckpointStore::complete(const TrainingState& state, const std::vector<SaveReceipt>& receipts,
                                   const std::function<void()>& sign_of_life) const {
    const fs::path partial = partial_folder(state.step), place = folder_ / step_folder_name(state.step);
    try {
        CompleteMark mark;
        mark.step = state.step;
        const auto list = [&](std::string_view name, FileSummary summary) { mark.files[std::string(name)] = summary; };
        list(model_file, PtWriter(partial / model_file, model_layout(state), PtWriter::Open::existing)
                             .finish(collected(receipts, &SaveReceipt::model), sign_of_life));
        list(optimizer_file, PtWriter(partial / optimizer_file, optimizer_layout(state), PtWriter::Open::existing)
                                 .finish(collected(receipts, &SaveReceipt::optimizer), sign_of_life));
        list(progress_file, write_flushed(partial / progress_file, json_text(state.progress)));
        list(settings_file, write_flushed(partial / settings_file, json_text(state.settings)));
        if (const auto& vocabulary = state.vocabulary)
            list(vocabulary->name, write_flushed(partial / vocabulary->name, vocabulary->content));
        write_mark(partial, mark);
        flush_folder(partial);
        put_in_place(partial, place);
        flush_folder(folder_);
    } catch (...) {
        abandon(state.step);
        throw;
    }
    return place;
}

fs::path CheckpointStore::save(const TrainingState& state) const {
    begin(state);
    try {
        return complete(state, {write(state)});
    } catch (...) {
        abandon(state.step);
        throw;
    }
}

void CheckpointStore::abandon(std::int64_t step) const noexcept {
    std::error_code ignored;
    fs::remove_all(partial_folder(step), ignored);
}

}  // namespace bertpretrain
