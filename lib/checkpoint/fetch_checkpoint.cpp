// The members of CheckpointMirror that read checkpoints of the mirror.

#include <iterator>
#include <system_error>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_mirror.h"
#include "checkpoint/lineage.h"
#include "core/error.h"
#include "core/files/disk.h"
#include "core/strings.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// A larger file is not read into memory.
constexpr std::uint64_t most_bytes_in_memory = std::uint64_t{64} << 20U;

void require_space(const fs::path& folder, const MirroredCheckpoint& checkpoint) {
    std::uint64_t needed = 0;
    for (const FileDigest& file : checkpoint.files) needed += file.bytes;
    if (const auto room = free_bytes_of(folder); room && *room < needed)
        throw CheckpointError(concat(folder.string(), ": no space for the mirror's checkpoint of step ", checkpoint.step,
                                     ": it needs ", bytes_text(needed), ", but only ", bytes_text(*room),
                                     " are free\n  do: free some space, or set --output to a path on a larger disk"));
}

[[noreturn]] void refuse_wrong_bytes(const ObjectUrl& object, const std::string& found, const FileDigest& expected) {
    throw CheckpointError(
        concat(object.text(), ": damaged: its SHA-256 is ", found, ", expected ", expected.sha256, " (", mirror_file, ")"));
}

}  // namespace

std::string CheckpointMirror::read(std::int64_t step, std::string_view file) {
    const MirroredCheckpoint* const checkpoint = index_ ? index_->find(step) : nullptr;
    const FileDigest* const expected = checkpoint == nullptr ? nullptr : checkpoint->find(file);
    if (expected == nullptr || expected->bytes > most_bytes_in_memory)
        throw CheckpointError(concat(url_.text(), ": its checkpoint of step ", step, " has no small file ", file));
    const std::string name = concat(checkpoint->folder, "/", file);
    std::string text;
    RunningDigest digest;
    try {
        store_.scan(name, expected->bytes, [&](std::string_view part) {
            text += part;
            digest.add(part);
        });
    } catch (const DataError& error) { throw CheckpointError(error.what()); }
    if (const std::string found = digest.finish(name).sha256; found != expected->sha256)
        refuse_wrong_bytes(url_ / name, found, *expected);
    return text;
}

CheckpointMirror::History CheckpointMirror::history() {
    History history;
    for (const MirroredCheckpoint& one : index_->checkpoints)
        if (const FileDigest* const lineage = one.find(lineage_file); lineage != nullptr && !one.abandoned)
            history.emplace(one.step, lineage->sha256);
    if (history.empty()) return history;
    const std::int64_t newest = history.rbegin()->first;
    try {
        const Lineage lineage = parse_lineage(read(newest, lineage_file), url_.text());
        for (const LineageLink& link : lineage.predecessors) history.emplace(link.step, link.sha256);
    } catch (const CheckpointError&) {  // damaged: the listed digests have to suffice
    } catch (const DataError&) {}
    return history;
}

void CheckpointMirror::require_same_run(const fs::path& checkpoints) {
    if (steps().empty()) return;
    const History theirs = history();
    for (const auto& [step, folder] : CheckpointStore(checkpoints).all()) {
        const fs::path file = folder / lineage_file;
        if (!exists_here(file)) continue;
        try {
            if (theirs.contains({step, digest_of_file(file).sha256})) return;
            for (const LineageLink& link : read_lineage(file).predecessors)
                if (!link.sha256.empty() && theirs.contains({link.step, link.sha256})) return;
        } catch (const DataError&) {}  // damaged
    }
    std::vector<std::string> listed;
    for (const std::int64_t step : steps()) listed.push_back(std::to_string(step));
    throw ConfigError(concat("checkpoint.mirror = \"", url_.text(), "\": is the mirror of another run: its checkpoints (steps ",
                             join(listed), ") and those in ", checkpoints.string(), " have no predecessor in common",
                             "\n  do: give each run a mirror of its own"));
}

void CheckpointMirror::download(const MirroredCheckpoint& from, const FileDigest& file, const fs::path& to) {
    const std::string name = concat(from.folder, "/", file.file);
    std::string found;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        try {
            store_.download(name, to, file.bytes);
        } catch (const DataError& error) { throw CheckpointError(error.what()); }
        found = digest_of_file(to).sha256;
        if (found == file.sha256) return;
        std::error_code ignored;  // if it stays, its digest is wrong again
        fs::remove(to, ignored);
    }
    refuse_wrong_bytes(url_ / name, found, file);
}

fs::path CheckpointMirror::fetch(std::int64_t step, const CheckpointStore& store) {
    const MirroredCheckpoint* const checkpoint = index_ ? index_->find(step) : nullptr;
    check(checkpoint != nullptr, "the mirror has no checkpoint of step ", step);
    std::error_code failure;
    fs::create_directory(store.folder(), failure);
    if (failure) throw CheckpointError(concat(store.folder().string(), ": cannot be created (", failure.message(), ")"));
    require_space(store.folder(), *checkpoint);
    const fs::path place = store.folder() / step_folder_name(step), partial = place.string() + ".fetched.partial";
    fs::create_directory(partial, failure);
    if (failure) throw CheckpointError(concat(partial.string(), ": cannot be created (", failure.message(), ")"));
    // Not fsynced: if this machine fails, the next start finds the damage and fetches the checkpoint again.
    for (const FileDigest& file : checkpoint->files) download(*checkpoint, file, partial / file.file);
    const CompleteMark mark = read_mark(partial);
    if (mark.step != step)
        throw CheckpointError(
            concat((url_ / checkpoint->folder).text(), ": damaged: ", complete_file, " is of step ", mark.step));
    check_sizes(partial, mark);
    if (exists_here(place)) store.set_damaged_aside(place);
    move_folder(partial, place);
    return place;
}

}  // namespace bertpretrain
