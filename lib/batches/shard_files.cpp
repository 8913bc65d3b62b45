#include "batches/shard_files.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

#include "core/error.h"
#include "shards/check/row_check.h"
#include "shards/check/shard_verification.h"
#include "shards/manifest.h"

namespace bertpretrain {
namespace {

void require_length(const ShardReader& reader, std::int64_t expected) {
    if (reader.sequence_length() == expected) return;
    throw DataError(concat(reader.file().string(), ": rows are ", reader.sequence_length(), " tokens long, expected ", expected,
                           "\n  the experiment sets data.sequence_length = ", expected,
                           "\n  do: make shards with `bertpretrain_data shard --sequence-length ", expected,
                           "`, or set data.sequence_length to ", reader.sequence_length()));
}

/// @throws DataError when the model predicts next sentences and the shard has no labels of them
void require_labels(const ShardReader& reader, bool needed) {
    if (!needed || reader.has_labels()) return;
    throw DataError(
        concat(reader.file().string(), ": has no next_sentence_labels, expected them for data.objective = \"mlm_nsp\"",
               "\n  do: set data.objective to \"mlm\", or make shards with `bertpretrain_data shard --objective mlm_nsp`"));
}

/// Whether the manifest records the file. @throws DataError when it records another number of rows
bool is_recorded(const Manifest& manifest, const ShardReader& reader) {
    const ShardRecord* record = manifest.find(reader.file().filename().string());
    if (record == nullptr) return false;
    if (record->rows != reader.rows())
        throw DataError(concat(reader.file().string(), ": holds ", reader.rows(), " rows, expected ", record->rows, " (",
                               manifest_name, " beside it)",
                               "\n  do: find out with `bertpretrain_data check` which files of the folder belong together"));
    return true;
}

void require_positions(const RowFormat& format) {
    if (format.sequence_length <= format.max_position_embeddings) return;
    throw ConfigError(concat("data.sequence_length = ", format.sequence_length, ", but the model knows ",
                             format.max_position_embeddings, " positions (model.max_position_embeddings)",
                             "\n  do: lower data.sequence_length, or raise model.max_position_embeddings to ",
                             format.sequence_length));
}

/// The results of verification, before files are opened.
struct Verified {
    std::map<std::filesystem::path, std::optional<Manifest>> manifests;  ///< by folder
    std::map<std::filesystem::path, std::int64_t> crc32;                 ///< by file
};

/// @throws DataError when a file differs from its manifest or cannot be read safely
Verified verify_folders(const std::vector<std::filesystem::path>& files, std::size_t threads) {
    std::map<std::filesystem::path, std::vector<std::filesystem::path>> folders;
    for (const std::filesystem::path& file : files) folders[file.parent_path()].push_back(file);
    Verified verified;
    for (const auto& [folder, files_of_folder] : folders) {
        const std::optional<Manifest>& manifest = verified.manifests[folder] = read_manifest(folder);
        const std::vector<VerifiedShard> answers = verify_shards(files_of_folder, manifest, threads);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            if (answers[i].problem) throw DataError(*answers[i].problem);
            verified.crc32[files_of_folder[i]] = answers[i].crc32;
        }
    }
    return verified;
}

void sort_by_name(std::vector<ShardFile>& shards) {
    std::sort(shards.begin(), shards.end(), [](const ShardFile& a, const ShardFile& b) {
        return std::tuple(a.file.filename(), a.file) < std::tuple(b.file.filename(), b.file);
    });
}

}  // namespace

std::vector<ShardFile> survey_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format,
                                     std::size_t threads) {
    require_positions(format);
    if (files.empty())
        throw DataError(
            "no shard files, expected at least one .h5 or .hdf5 file\n  do: check the shards' folder in the settings");
    const Verified verified = verify_folders(files, threads);
    std::vector<ShardFile> shards;
    for (const std::filesystem::path& file : files) {
        const std::int64_t crc32 = verified.crc32.at(file);
        auto reader = std::make_shared<const ShardReader>(file, crc32);
        require_length(*reader, format.sequence_length);
        require_labels(*reader, format.needs_labels);
        const std::optional<Manifest>& manifest = verified.manifests.at(file.parent_path());
        const bool is_in_manifest = manifest && is_recorded(*manifest, *reader);
        shards.push_back(
            {file, reader->rows(), reader->band_rows(), reader->max_predictions(), crc32, is_in_manifest, reader, nullptr});
    }
    sort_by_name(shards);
    return shards;
}

std::vector<ShardFile> survey_remote_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format,
                                            const std::shared_ptr<ObjectCache>& cache, const std::filesystem::path& cache_folder,
                                            std::size_t user) {
    require_positions(format);
    std::vector<RemoteShardRecord> records = open_remote_shards(files, *cache, cache_folder);
    const auto largest = std::max_element(records.begin(), records.end(),
                                          [](const auto& a, const auto& b) { return a.record.rows < b.record.rows; });
    cache->hold(user, std::span(&largest->object, 1));
    const auto reader = RemoteShard(cache, *largest).reader();
    require_length(*reader, format.sequence_length);
    require_labels(*reader, format.needs_labels);
    std::vector<ShardFile> shards;
    for (RemoteShardRecord& record : records) {
        const std::int64_t rows = record.record.rows, band_rows = std::min(rows, reader->band_rows());
        const std::int64_t crc32 = record.record.crc32;
        const std::filesystem::path file = record.file;
        auto remote = std::make_shared<RemoteShard>(cache, std::move(record));
        remote->expect({band_rows, reader->sequence_length(), reader->max_predictions(), format.needs_labels});
        shards.push_back({file, rows, band_rows, reader->max_predictions(), crc32, true, nullptr, std::move(remote)});
    }
    sort_by_name(shards);
    return shards;
}

ShardRows read_checked_rows(const ShardFile& shard, std::int64_t first, std::int64_t count, const RowFormat& format,
                            std::size_t threads) {
    ShardRows rows = shard.opened()->read(first, count, threads);
    check_rows(rows, static_cast<std::int32_t>(format.vocab_size), shard.file.string(), first);
    return rows;
}

}  // namespace bertpretrain
