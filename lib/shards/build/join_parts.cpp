#include "shards/build/join_parts.h"

#include <algorithm>
#include <list>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/files/file_lock.h"
#include "core/files/files.h"
#include "core/files/sha256.h"
#include "core/markdown.h"
#include "core/strings.h"
#include "shards/build/part_record.h"
#include "shards/dataset_card.h"
#include "shards/entropy.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

void remove_part_files(const fs::path& folder) {
    std::error_code ignored;
    for (const BuildPart& part : parts_in(folder))
        for (const std::string& file : {part.record_file(), part.building_file()}) fs::remove(folder / file, ignored);
}

/// Returns all parts' records, in order. @throws DataError naming those that are missing or not complete
std::vector<PartRecord> complete_parts(const fs::path& folder, const std::vector<BuildPart>& found) {
    const std::int64_t count = found.front().count;
    if (found.back().count != count)
        throw DataError(concat(folder.string(), ": has parts of two builds, ", found.front().building_file(), " and ",
                               found.back().building_file(), "\n  do: make the parts of each build in a folder of its own"));
    std::vector<PartRecord> records;
    std::string missing;
    for (std::int64_t number = 1; number <= count; ++number) {
        std::optional<PartRecord> record = read_part(folder, {{number, count}});
        if (record && record->is_complete({{number, count}})) records.push_back(*std::move(record));
        else missing += concat(missing.empty() ? "" : ", ", number, "/", count);
    }
    if (!missing.empty())
        throw DataError(concat(folder.string(), ": ", records.size(), " of ", count, " parts are complete; missing: ", missing,
                               "\n  do: run `bertpretrain_data shard` with --part for each of these, and join again"));
    return records;
}

void require_same_request(const fs::path& folder, const std::vector<PartRecord>& records) {
    const auto count = static_cast<std::int64_t>(records.size());
    for (std::int64_t i = 1; i < count; ++i)
        if (const PartRecord& record = records[static_cast<std::size_t>(i)];
            record.makes != records.front().makes || record.label_counts.size() != records.front().label_counts.size())
            throw DataError(concat((folder / BuildPart{{i + 1, count}}.record_file()).string(), ": differs from ",
                                   BuildPart{{1, count}}.record_file(), ": ", difference(record, records.front()),
                                   "\n  do: make this part again with the command of part 1"));
}

void require_unchanged(const fs::path& folder, const ShardRecord& shard) {
    const fs::path file = folder / shard.file;
    std::error_code failure;
    const auto bytes = static_cast<std::int64_t>(fs::file_size(file, failure));
    if (failure)
        throw DataError(
            concat(file.string(), ": is missing, but a part has made it\n  do: copy all parts' files into the folder"));
    if (bytes != shard.bytes || crc32_of_file(file) != shard.crc32)
        throw DataError(concat(file.string(), ": is not the file that its part made (", with_thousands(bytes),
                               " bytes, expected ", with_thousands(shard.bytes),
                               ", with another checksum)\n  do: copy it again"));
}

void require_vocabulary(const fs::path& folder, const VocabularyRecord& record) {
    const fs::path file = folder / record.file;
    if (!fs::exists(file)) throw DataError(concat(file.string(), ": is missing\n  do: copy the parts' vocabulary, too"));
    if (!is_vocabulary_of(record, file))
        throw DataError(concat(file.string(), ": is not the vocabulary that the parts were made with\n  do: copy it again"));
}

}  // namespace

bool is_vocabulary_of(const VocabularyRecord& record, const fs::path& file) {
    if (!record.sha256.empty() && hexadecimal(sha256(read_file(file))) != record.sha256) return false;
    return Vocabulary::read(file).crc32() == record.crc32;
}

void complete_folder(const fs::path& folder, const Manifest& manifest) {
    write_manifest(folder, manifest);
    const fs::path card = folder / "README.md";
    if (fs::exists(card) && read_file(card).find(licence_yaml) == std::string::npos) return;
    write_atomically(card, dataset_card(manifest));
}

Manifest join_parts(const fs::path& folder) {
    std::list<FileLock> alone;  // no part is made again until its files are removed
    for (const BuildPart& part : parts_in(folder))
        alone.emplace_back(folder / part.building_file(),
                           concat((folder / part.building_file()).string(),
                                  ": another process is making shards there, or joining them; wait for it"),
                           FileLock::Missing::leave);
    const std::vector<BuildPart> found = parts_in(folder);
    if (std::optional<Manifest> manifest = read_manifest(folder)) {
        remove_part_files(folder);
        return *std::move(manifest);
    }
    if (found.empty() || found.front().is_whole())
        throw ConfigError(concat(folder.string(), ": has no parts of a build, building_I_of_N.json",
                                 "\n  do: make them with `bertpretrain_data shard --part I/N`"));
    const std::vector<PartRecord> records = complete_parts(folder, found);
    require_same_request(folder, records);
    Manifest manifest = records.front().manifest;
    std::vector<std::int64_t> labels(records.front().label_counts.size());
    manifest.shards.clear();
    for (const PartRecord& record : records) {
        for (const ShardRecord& shard : record.manifest.shards) require_unchanged(folder, shard);
        manifest.shards.insert(manifest.shards.end(), record.manifest.shards.begin(), record.manifest.shards.end());
        for (std::size_t id = 0; id < labels.size(); ++id) labels[id] += record.label_counts[id];
    }
    require_vocabulary(folder, manifest.vocabulary);
    std::ranges::sort(manifest.shards, {}, &ShardRecord::file);
    manifest.unigram_cross_entropy = entropy_of_counts(labels);
    complete_folder(folder, manifest);
    remove_part_files(folder);
    return manifest;
}

}  // namespace bertpretrain
