#include "shards/build/shard_folder.h"

#include <algorithm>
#include <cerrno>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "shards/build/join_parts.h"
#include "shards/entropy.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

void require(bool holds, const std::string& message) {
    if (!holds) throw ConfigError(message);
}

std::string in_use(const fs::path& folder) {
    return concat(folder.string(), ": another run is making shards there; wait for it or choose another --output");
}

void remove_file(const fs::path& file) {
    std::error_code failure;
    fs::remove(file, failure);
    require(!failure, concat(file.string(), ": cannot be removed (", failure.message(), ")"));
}

/// Returns the files listed in an interrupted run's building file, except names that are not shards in this folder.
std::vector<fs::path> announced_files(const fs::path& folder, const BuildPart& part) {
    const nlohmann::json building = nlohmann::json::parse(read_file(folder / part.building_file()), nullptr, false);
    std::vector<fs::path> files;
    if (!building.is_object() || !building.contains("files") || !building["files"].is_array()) return files;
    for (const auto& name : building["files"])
        if (name.is_string() && fs::path(name.get<std::string>()).filename() == name.get<std::string>() &&
            shard_kind(name.get<std::string>()))
            files.push_back(folder / name.get<std::string>());
    return files;
}

/// Whether all shards of a record are in the folder with their bytes.
bool has_shards_of(const fs::path& folder, const PartRecord& record) {
    return std::ranges::all_of(record.manifest.shards, [&](const ShardRecord& shard) {
        return fs::is_regular_file(folder / shard.file) && digest_of_file(folder / shard.file).sha256 == shard.sha256;
    });
}

/// Removes what an interrupted run of this part left, except the finished shards if it was to make the same ones. Takes these
/// into the record.
void clear_interrupted(const fs::path& folder, const BuildPart& part, PartRecord& record) {
    if (!fs::exists(folder / part.building_file())) return;
    const FileLock alone(folder / part.building_file(), in_use(folder));
    if (fs::exists(folder / manifest_name)) return;
    std::optional<PartRecord> earlier = record.makes.empty() ? std::nullopt : read_part(folder, part);
    const bool goes_on = earlier && earlier->makes == record.makes &&
                         earlier->label_counts.size() == record.label_counts.size() && has_shards_of(folder, *earlier);
    if (goes_on) record = *std::move(earlier);
    const std::vector<fs::path> announced = announced_files(folder, part);
    std::size_t removed = 0;
    for (const fs::path& file : announced)
        for (const fs::path& left : {file, fs::path(file.string() + ".partial")})
            if (fs::exists(left) && !record.manifest.find(left.filename().string())) {
                remove_file(left);
                ++removed;
            }
    if (!goes_on) remove_file(folder / part.record_file());
    if (goes_on && record.is_complete(part)) return;
    log_info(concat(folder.string(), ": an earlier run was interrupted; ",
                    goes_on ? concat("going on after ", record.manifest.shards.size(), " of ", announced.size(), " shards")
                            : concat("removed its ", removed, " files to build them again")));
}

/// Refuses a folder in which parts of another build were made, or a whole build where a part is asked for.
void require_same_build(const fs::path& folder, const BuildPart& part, const PartRecord& record) {
    if (fs::exists(folder / manifest_name)) return;
    for (const BuildPart& other : parts_in(folder)) {
        require(other.count == part.count,
                concat((folder / other.building_file()).string(), ": marks ",
                       other.is_whole() ? "a build without parts" : "a part of another build",
                       ", which was not completed\n  do: choose another --output, or remove this folder"));
        const std::optional<PartRecord> theirs = read_part(folder, other);
        require(other == part || !theirs || theirs->makes == record.makes,
                concat((folder / part.record_file()).string(), ": differs from ", other.record_file(), ": ",
                       theirs ? difference(record, *theirs) : "",
                       "\n  do: give all parts the same text, vocabulary and options, or choose another ", "--output"));
    }
}

/// Returns whether --overwrite may remove an old shard: only if the folder's manifest lists it or this run will write it.
bool may_replace(const std::string& file, const std::optional<Manifest>& old, const std::vector<std::string>& new_files) {
    return (old && old->find(file) != nullptr) || std::find(new_files.begin(), new_files.end(), file) != new_files.end();
}

bool has_vocabulary(const fs::path& file, const VocabularyRecord& expected) {
    try {
        return is_vocabulary_of(expected, file);
    } catch (const DataError&) { return false; }
}

/// Refuses a folder that already has shards, or with `overwrite` removes its manifest and then the shards. This order ensures
/// that a folder with a manifest is always complete. Takes what an interrupted run finished into the record.
/// @returns the vocabulary file of the shards that were removed; "": there were none
std::string prepare(const fs::path& folder, const FolderRequest& request, PartRecord& record) {
    const fs::path vocabulary = folder / record.manifest.vocabulary.file;
    require(!fs::exists(folder / "COMPLETE.json"),
            concat(folder.string(), ": is a checkpoint, whose vocabulary shards would replace\n  do: choose another --output"));
    make_writable_folder(folder);
    require(request.overwrite || !fs::exists(vocabulary) || has_vocabulary(vocabulary, record.manifest.vocabulary),
            concat(vocabulary.string(), ": is another vocabulary than ", request.vocabulary_file.string(),
                   "\n  do: choose another --output, or use --overwrite to replace it"));
    require_same_build(folder, request.part, record);
    clear_interrupted(folder, request.part, record);
    std::vector<fs::path> old_files = list_files(folder, {".h5", ".hdf5"});
    std::vector<fs::path> of_parts;
    for (const BuildPart& other : parts_in(folder))
        if (other != request.part) std::ranges::move(announced_files(folder, other), std::back_inserter(of_parts));
    const auto belongs_to_build = [&](const fs::path& file) {
        return record.manifest.find(file.filename().string()) != nullptr || std::ranges::count(of_parts, file) > 0;
    };
    std::erase_if(old_files, [&](const fs::path& file) { return !shard_kind(file) || belongs_to_build(file); });
    const bool has_manifest = fs::exists(folder / manifest_name);
    if (has_manifest) old_files.insert(old_files.begin(), folder / manifest_name);
    if (old_files.empty()) return "";
    require(
        request.overwrite,
        concat(folder.string(), ": already holds ", old_files.front().filename().string(),
               old_files.size() > 1 ? concat(" and ", old_files.size() - 1, " more") : "", "\n  do: choose another --output, or ",
               request.part.is_whole() ? "use --overwrite to replace these files" : "remove these files: --part replaces none"));
    const std::optional<Manifest> old = read_manifest(folder);
    for (const fs::path& file : old_files)
        require(file.filename() == manifest_name || may_replace(file.filename().string(), old, record.files),
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

ShardFolder::ShardFolder(fs::path folder, FolderRequest request, const Vocabulary& vocabulary)
    : folder_(std::move(folder)),
      request_(std::move(request)),
      vocabulary_(vocabulary),
      definition_(vocabulary.has_own_rules() ? read_file(request_.vocabulary_file) : std::string()) {
    const bool has_own_rules = request_.settings.compatible_with == "nothing";
    record_.manifest.settings = request_.settings;
    record_.manifest.vocabulary = record_of(vocabulary, definition_);
    record_.manifest.rules_version = has_own_rules ? current_rules_version : 1;
    record_.files = request_.files;
    record_.label_counts.resize(static_cast<std::size_t>(vocabulary.size()));
    if (request_.texts) record_.makes = digest_of_request(record_.manifest, *request_.texts, record_.files);
    replaced_vocabulary_ = prepare(folder_, request_, record_);
    const nlohmann::ordered_json building = {
        {"what", request_.part.is_whole()
                     ? "bertpretrain_data shard is making these files; it removes this one when all are there"
                     : "bertpretrain_data shard --part makes these files; bertpretrain_data join removes this one"},
        {"files", request_.part.files_of(record_.files)}};
    const fs::path file = folder_ / request_.part.building_file();
    lock_.emplace(file, building.dump(2) + "\n", in_use(folder_));
    if (!fs::exists(folder_ / manifest_name)) return;
    remove_file(file);
    throw ConfigError(concat(folder_.string(), ": another process has completed it meanwhile\n  do: choose another --output"));
}

void ShardFolder::write(const std::string& file, std::int64_t rows, std::int64_t tokens, std::size_t threads,
                        const std::function<void(const Append&)>& fill) {
    const SampleSettings& settings = record_.manifest.settings;
    Labels labels;
    labels.counts.resize(record_.label_counts.size());
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
    record_.manifest.shards.push_back(record);
    std::ranges::sort(record_.manifest.shards, {}, &ShardRecord::file);
    if (shard_kind(file) == ShardKind::training)
        for (std::size_t id = 0; id < labels.counts.size(); ++id) record_.label_counts[id] += labels.counts[id];
    if (!record_.makes.empty()) write_part(folder_, request_.part, record_);
}

/// Under a name of its own first: other parts may write the same file at the same time.
void ShardFolder::write_vocabulary() const {
    const fs::path file = folder_ / record_.manifest.vocabulary.file;
    const fs::path own = request_.part.is_whole() ? file : fs::path(file.string() + "." + request_.part.record_file());
    if (definition_.empty()) vocabulary_.write(own);
    else write_atomically(own, definition_);
    if (own == file) return;
    std::error_code failure;
    fs::rename(own, file, failure);
    if (failure) throw DataError(concat(file.string(), ": cannot be written (", failure.message(), ")"));
}

Manifest ShardFolder::finish(std::vector<FileDigest> corpus) {
    Manifest& manifest = record_.manifest;
    manifest.corpus = std::move(corpus);
    manifest.unigram_cross_entropy = entropy_of_counts(record_.label_counts);
    write_vocabulary();
    if (!request_.part.is_whole()) {
        write_part(folder_, request_.part, record_);
        return manifest;
    }
    if (!replaced_vocabulary_.empty() && replaced_vocabulary_ != manifest.vocabulary.file)
        remove_file(folder_ / replaced_vocabulary_);
    complete_folder(folder_, manifest);
    remove_file(folder_ / request_.part.record_file());
    remove_file(folder_ / request_.part.building_file());
    return manifest;
}

}  // namespace bertpretrain
