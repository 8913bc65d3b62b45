#include "checkpoint/checkpoint_mirror.h"

#include <algorithm>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/lineage.h"
#include "core/error.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// Returns the digests of all files of a checkpoint, COMPLETE.json last. Takes them from lineage.json where there is one.
std::vector<FileDigest> files_of(const fs::path& folder) {
    std::vector<FileDigest> files;
    if (const fs::path lineage = folder / lineage_file; exists_here(lineage)) {
        files = read_lineage(lineage).files;
        files.push_back(digest_of_file(lineage, std::string(lineage_file)));
    } else {
        files = digests_of_checkpoint(folder);
    }
    std::ranges::stable_partition(files, [](const FileDigest& file) { return file.file != complete_file; });
    return files;
}

bool is_equal(const std::vector<FileDigest>& a, const std::vector<FileDigest>& b) {
    return std::ranges::equal(a, b, {}, &FileDigest::sha256, &FileDigest::sha256);
}

/// Returns a folder that no listed checkpoint has: a listed one stays whole until its replacement is.
std::string free_folder(const MirrorIndex& index, std::int64_t step) {
    std::string folder = step_folder_name(step);
    for (int number = 2; std::ranges::find(index.checkpoints, folder, &MirroredCheckpoint::folder) != index.checkpoints.end();)
        folder = concat(step_folder_name(step), ".", number++);
    return folder;
}

}  // namespace

CheckpointMirror::CheckpointMirror(ObjectUrl url, std::shared_ptr<AwsCredentialSource> credentials, StorageSettings settings)
    : url_(url), store_(std::move(url), std::move(credentials), std::move(settings)) {}

void CheckpointMirror::open(const std::stop_token& stop) {
    index_.reset();
    text_in_store_ = store_.read(std::string(mirror_file), stop);
    MirrorIndex index;
    if (text_in_store_) index = parse_mirror(*text_in_store_, where());
    else if (url_.kind == ObjectUrl::Kind::s3 && !store_.list("step_").empty())
        throw CheckpointError(concat(
            url_.text(), ": has folders step_N but no ", mirror_file,
            ", so this program did not write them as a mirror\n  do: give checkpoint.mirror the address of an empty folder"));
    index_ = std::move(index);
}

std::vector<std::int64_t> CheckpointMirror::steps() const {
    std::vector<std::int64_t> steps;
    if (index_)
        for (const MirroredCheckpoint& one : index_->checkpoints)
            if (!one.abandoned) steps.push_back(one.step);
    return steps;
}

void CheckpointMirror::publish(MirrorIndex index, const std::stop_token& stop) {
    index_.reset();  // unknown if a request fails
    if (store_.read(std::string(mirror_file), stop) != text_in_store_)
        throw CheckpointError(concat(where(), ": another process has changed it while this run used it",
                                     "\n  do: end the other process, or give each run a mirror of its own"));
    if (!own_run_id_.empty()) index.run_id = own_run_id_;
    const std::string text = mirror_text(index);
    store_.write(std::string(mirror_file), text, stop);
    text_in_store_ = text;
    index_ = std::move(index);
}

void CheckpointMirror::upload(const std::string& name, const fs::path& file, const FileDigest& expected,
                              const std::stop_token& stop) {
    std::string found;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        store_.upload(name, file, stop);
        RunningDigest digest;
        store_.scan(
            name, expected.bytes, [&](std::string_view part) { digest.add(part); }, stop);
        found = digest.finish(name).sha256;
        if (found == expected.sha256) return;
    }
    throw CheckpointError(concat((url_ / name).text(), ": was read back with SHA-256 ", found, " after ", most_attempts,
                                 " uploads, expected ", expected.sha256, "\n  do: check ", file.string(), " and the store"));
}

CheckpointMirror::Sent CheckpointMirror::send(std::int64_t step, const fs::path& folder, std::int64_t keep,
                                              const std::stop_token& stop) {
    if (!index_) {
        open(stop);
        require_same_run(folder.parent_path());
    }
    MirroredCheckpoint sent{step, free_folder(*index_, step), files_of(folder)};
    const MirroredCheckpoint* const here = index_->find(step);
    const bool is_here = here != nullptr && is_equal(here->files, sent.files);
    if (is_here && index_->checkpoints.back().step == step) return {};
    Sent result;
    MirrorIndex next = *index_;
    if (!is_here) {
        for (const FileDigest& file : sent.files) next.unfinished[sent.folder].push_back(file.file);
        publish(next, stop);
        for (const FileDigest& file : sent.files) {
            upload(concat(sent.folder, "/", file.file), folder / file.file, file, stop);
            result.bytes += file.bytes;
        }
        next.unfinished.erase(sent.folder);
    }
    for (std::size_t i = next.checkpoints.size(); i-- > 0;)
        if (const MirroredCheckpoint& one = next.checkpoints[i];
            one.abandoned || one.step > step || (one.step == step && !is_here))
            next.drop(i);
    if (!is_here) next.checkpoints.push_back(std::move(sent));
    while (next.checkpoints.size() > static_cast<std::size_t>(std::max<std::int64_t>(keep, 1))) next.drop(0);
    publish(std::move(next), stop);
    result.trouble = remove_unfinished(stop);
    return result;
}

/// @returns why it failed; empty: it did not. What is left is tried again after the next upload.
std::string CheckpointMirror::remove_unfinished(const std::stop_token& stop) {
    try {
        while (!index_->unfinished.empty()) {
            const auto first = index_->unfinished.begin();
            for (const std::string& file : first->second) store_.remove(concat(first->first, "/", file), stop);
            index_->unfinished.erase(first);  // the next publish() writes it
        }
    } catch (const Error& error) { return error.what(); }
    return {};
}

void CheckpointMirror::abandon_after(std::int64_t step, const std::stop_token& stop) {
    if (!index_) open(stop);
    MirrorIndex index = *index_;
    bool has_changed = false;
    for (MirroredCheckpoint& one : index.checkpoints)
        if (one.step > step && !std::exchange(one.abandoned, true)) has_changed = true;
    if (has_changed) publish(std::move(index), stop);
}

}  // namespace bertpretrain
