#include "shards/build/shard_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/markdown.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "shards/dataset_card.h"
#include "shards/entropy.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

void require(bool holds, const std::string& message) {
    if (!holds) throw ConfigError(message);
}

/// An exclusive lock held by the run that writes a folder. The kernel releases it however the run ends.
class FileLock {
public:
    explicit FileLock(const fs::path& file) : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        if (descriptor_ < 0) throw DataError(concat(file.string(), ": cannot be written (", std::strerror(errno), ")"));
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return;  // some network file systems do not support locks
        ::close(descriptor_);
        throw ConfigError(
            concat(file.parent_path().string(), ": another run is making shards there; wait for it or choose another --output"));
    }
    ~FileLock() { ::close(descriptor_); }
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

private:
    int descriptor_;
};

void remove_file(const fs::path& file) {
    std::error_code failure;
    fs::remove(file, failure);
    require(!failure, concat(file.string(), ": cannot be removed (", failure.message(), ")"));
}

/// Returns the files listed in an interrupted run's building.json, except names that are not shards in this folder.
std::vector<fs::path> announced_files(const fs::path& folder) {
    const nlohmann::json building = nlohmann::json::parse(read_file(folder / building_name), nullptr, false);
    std::vector<fs::path> files;
    if (!building.is_object() || !building.contains("files") || !building["files"].is_array()) return files;
    for (const auto& name : building["files"])
        if (name.is_string() && fs::path(name.get<std::string>()).filename() == name.get<std::string>() &&
            shard_kind(name.get<std::string>()))
            files.push_back(folder / name.get<std::string>());
    return files;
}

void clear_interrupted(const fs::path& folder) {
    if (!fs::exists(folder / building_name)) return;
    const FileLock alone(folder / building_name);
    if (fs::exists(folder / manifest_name)) return;
    std::size_t removed = 0;
    for (const fs::path& file : announced_files(folder))
        for (const fs::path& left : {file, fs::path(file.string() + ".partial")})
            if (fs::exists(left)) {
                remove_file(left);
                ++removed;
            }
    log_info(concat(folder.string(), ": an earlier run was interrupted; removed its ", removed, " files to build them again"));
}

/// Returns whether --overwrite may remove an old shard: only if the folder's manifest lists it or this run will write it.
bool may_replace(const std::string& file, const std::optional<Manifest>& old, const std::vector<std::string>& new_files) {
    return (old && old->find(file) != nullptr) || std::find(new_files.begin(), new_files.end(), file) != new_files.end();
}

/// Refuses a folder that already has shards, or with `overwrite` removes its manifest and then the shards. This order ensures
/// that a folder with a manifest is always complete.
/// @param vocabulary to be written
/// @returns the vocabulary file of the shards that were removed; "": there were none
std::string prepare(const fs::path& folder, const fs::path& vocabulary, const fs::path& vocabulary_file,
                    const std::vector<std::string>& new_files, bool overwrite) {
    require(!fs::exists(folder / "COMPLETE.json"),
            concat(folder.string(), ": is a checkpoint, whose vocabulary shards would replace\n  do: choose another --output"));
    make_writable_folder(folder);
    require(overwrite || !fs::exists(vocabulary) || read_file(vocabulary) == read_file(vocabulary_file),
            concat(vocabulary.string(), ": is another vocabulary than ", vocabulary_file.string(),
                   "\n  do: choose another --output, or use --overwrite to replace it"));
    clear_interrupted(folder);
    std::vector<fs::path> old_files = list_files(folder, {".h5", ".hdf5"});
    std::erase_if(old_files, [](const fs::path& file) { return !shard_kind(file); });
    const bool has_manifest = fs::exists(folder / manifest_name);
    if (has_manifest) old_files.insert(old_files.begin(), folder / manifest_name);
    if (old_files.empty()) return "";
    require(overwrite, concat(folder.string(), ": already holds ", old_files.front().filename().string(),
                              old_files.size() > 1 ? concat(" and ", old_files.size() - 1, " more") : "",
                              "\n  do: choose another --output, or use --overwrite to replace these files"));
    const std::optional<Manifest> old = read_manifest(folder);
    for (const fs::path& file : old_files)
        require(file.filename() == manifest_name || may_replace(file.filename().string(), old, new_files),
                concat(file.string(), ": is a shard that the folder's manifest does not list, so it is not replaced",
                       "\n  do: choose another --output, or move it away"));
    for (const fs::path& file : old_files) remove_file(file);
    return old ? old->vocabulary.file : "";
}

/// @param definition the tokenizer's file; empty for a list of tokens
VocabularyRecord record_of(const Vocabulary& vocabulary, const std::string& definition) {
    VocabularyRecord record{std::string(carried_name(vocabulary.kind())), vocabulary.size(), vocabulary.crc32(), {}};
    if (!definition.empty()) record.sha256 = hexadecimal(sha256(definition));
    return record;
}

/// Counts of one shard's masked labels, collected while its rows are written.
struct Labels {
    std::mutex guard;
    std::vector<std::int64_t> counts;  // by id
    std::int64_t masked = 0;

    void add(const ShardRows& rows) {
        const std::lock_guard lock(guard);
        for (std::size_t i = 0; i < rows.masked_lm_positions_RP.size(); ++i) {
            if (rows.masked_lm_positions_RP[i] == 0) continue;
            ++counts[static_cast<std::size_t>(rows.masked_lm_ids_RP[i])];
            ++masked;
        }
    }
};

}  // namespace

void check_empty(const fs::path& folder, bool overwrite) {
    require(overwrite || !fs::exists(folder / manifest_name),
            concat(folder.string(), ": already holds ", manifest_name,
                   "\n  do: choose another --output, or use --overwrite to replace these files"));
}

struct ShardFolder::Lock : FileLock {
    using FileLock::FileLock;
};

ShardFolder::ShardFolder(fs::path folder, const SampleSettings& settings, const Vocabulary& vocabulary,
                         const fs::path& vocabulary_file, const std::vector<std::string>& files, bool overwrite)
    : folder_(std::move(folder)),
      vocabulary_(vocabulary),
      definition_(vocabulary.has_own_rules() ? read_file(vocabulary_file) : std::string()),
      manifest_{settings, record_of(vocabulary, definition_),
                {},       0,
                {},       settings.compatible_with == "nothing" ? current_rules_version : 1},
      label_counts_(static_cast<std::size_t>(vocabulary.size())) {
    replaced_vocabulary_ = prepare(folder_, folder_ / manifest_.vocabulary.file, vocabulary_file, files, overwrite);
    const nlohmann::ordered_json building = {
        {"what", "bertpretrain_data shard is making these files; it removes this one when all are there"}, {"files", files}};
    lock_ = std::make_unique<Lock>(folder_ / building_name);
    std::ofstream out(folder_ / building_name);  // in place, because the lock belongs to this file
    if (!(out << building.dump(2) << std::endl))
        throw DataError(concat((folder_ / building_name).string(), ": cannot be written (", std::strerror(errno), ")"));
}

ShardFolder::~ShardFolder() = default;

void ShardFolder::write(const std::string& file, std::int64_t rows, std::int64_t tokens, std::size_t threads,
                        const std::function<void(const Append&)>& fill) {
    const SampleSettings& settings = manifest_.settings;
    Labels labels;
    labels.counts.resize(label_counts_.size());
    const fs::path path = folder_ / file;
    write_atomically_at(path, [&](const fs::path& partial) {
        ShardWriter writer(partial, {rows, settings.sequence_length, settings.max_predictions, settings.has_labels()});
        fill([&](std::int64_t count, const RowsOf& rows_of) {
            const auto counted = [&](std::int64_t first, std::int64_t part) {
                ShardRows made = rows_of(first, part);
                labels.add(made);
                return made;
            };
            writer.append(count, counted, threads);
        });
        writer.finish();
    });
    const FileDigest digest = digest_of_file(path);
    const ShardRecord record{
        file, rows, tokens, labels.masked, static_cast<std::int64_t>(digest.bytes), crc32_of_file(path), digest.sha256};
    const std::lock_guard lock(guard_);
    manifest_.shards.push_back(record);
    if (shard_kind(file) != ShardKind::training) return;
    for (std::size_t id = 0; id < label_counts_.size(); ++id) label_counts_[id] += labels.counts[id];
}

namespace {

/// Writes README.md, but not over one with a licence, which a person has completed.
void write_card(const fs::path& folder, const Manifest& manifest) {
    const fs::path card = folder / "README.md";
    if (fs::exists(card) && read_file(card).find(licence_yaml) == std::string::npos) return;
    write_atomically(card, dataset_card(manifest));
}

}  // namespace

Manifest ShardFolder::finish(std::vector<FileDigest> corpus) {
    manifest_.corpus = std::move(corpus);
    manifest_.unigram_cross_entropy = entropy_of_counts(label_counts_);
    std::sort(manifest_.shards.begin(), manifest_.shards.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
    if (definition_.empty()) vocabulary_.write(folder_ / token_list_name);
    else write_atomically(folder_ / carried_name(vocabulary_.kind()), definition_);
    if (!replaced_vocabulary_.empty() && replaced_vocabulary_ != manifest_.vocabulary.file)
        remove_file(folder_ / replaced_vocabulary_);
    write_manifest(folder_, manifest_);
    write_card(folder_, manifest_);
    remove_file(folder_ / building_name);
    return manifest_;
}

}  // namespace bertpretrain
