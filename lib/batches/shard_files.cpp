#include "batches/shard_files.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/error.h"
#include "shards/manifest.h"
#include "shards/row_check.h"
#include "shards/shard_verification.h"

namespace bertpretrain {
namespace {

void require_length(const ShardReader& reader, std::int64_t expected) {
    if (reader.sequence_length() == expected) return;
    throw DataError(concat(reader.file().string(), ": rows are ", reader.sequence_length(), " tokens long, expected ", expected,
                           "\n  the experiment sets data.sequence_length = ", expected,
                           "\n  do: make shards with `bertpretrain_data shard --sequence-length ", expected,
                           "`, or set data.sequence_length to ", reader.sequence_length()));
}

/// What the manifest says of the file's bytes; nothing when it does not know the file.
std::optional<std::int64_t> recorded_crc32(const Manifest& manifest, const ShardReader& reader) {
    const ShardRecord* record = manifest.find(reader.file().filename().string());
    if (record == nullptr) return std::nullopt;
    if (record->rows != reader.rows())
        throw DataError(concat(reader.file().string(), ": holds ", reader.rows(), " rows, expected ", record->rows, " (",
                               manifest_name, " beside it)",
                               "\n  do: find out with `bertpretrain_data check` which files of the folder belong together"));
    return record->crc32;
}

void require_positions(const RowFormat& format) {
    if (format.sequence_length <= format.max_position_embeddings) return;
    throw ConfigError(concat("data.sequence_length = ", format.sequence_length, ", but the model knows ",
                             format.max_position_embeddings, " positions (model.max_position_embeddings)",
                             "\n  do: lower data.sequence_length, or raise model.max_position_embeddings to ",
                             format.sequence_length));
}

using Manifests = std::map<std::filesystem::path, std::optional<Manifest>>;

/// The manifests beside the files. @throws DataError when a file is not what its manifest says, or cannot be read safely
Manifests verify_folders(const std::vector<std::filesystem::path>& files, std::size_t threads) {
    std::map<std::filesystem::path, std::vector<std::filesystem::path>> folders;
    for (const std::filesystem::path& file : files) folders[file.parent_path()].push_back(file);
    Manifests manifests;
    for (const auto& [folder, files_of_folder] : folders) {
        const std::optional<Manifest>& manifest = manifests[folder] = read_manifest(folder);
        for (const std::optional<DataError>& problem : verify_shards(files_of_folder, manifest, threads))
            if (problem) throw DataError(*problem);
    }
    return manifests;
}

}  // namespace

std::vector<ShardFile> survey_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format,
                                     std::size_t threads) {
    require_positions(format);
    if (files.empty())
        throw DataError(
            "no shard files, expected at least one .h5 or .hdf5 file\n  do: check the shards' folder in the settings");
    const Manifests manifests = verify_folders(files, threads);
    std::vector<ShardFile> shards;
    for (const std::filesystem::path& file : files) {
        auto reader = std::make_shared<const ShardReader>(file);
        require_length(*reader, format.sequence_length);
        const std::optional<Manifest>& manifest = manifests.at(file.parent_path());
        const std::optional<std::int64_t> crc32 = manifest ? recorded_crc32(*manifest, *reader) : std::nullopt;
        shards.push_back({file, reader->rows(), reader->band_rows(), reader->max_predictions(), crc32, reader});
    }
    std::sort(shards.begin(), shards.end(), [](const ShardFile& a, const ShardFile& b) {
        return std::tuple(a.file.filename(), a.file) < std::tuple(b.file.filename(), b.file);
    });
    return shards;
}

ShardRows read_checked_rows(const ShardFile& shard, std::int64_t first, std::int64_t count, const RowFormat& format,
                            std::size_t threads) {
    ShardRows rows = shard.reader->read(first, count, threads);
    check_rows(rows, static_cast<std::int32_t>(format.vocab_size), shard.file.string(), first);
    return rows;
}

}  // namespace bertpretrain
