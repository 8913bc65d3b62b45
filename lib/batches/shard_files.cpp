#include "batches/shard_files.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/error.h"
#include "shards/manifest.h"
#include "shards/row_check.h"

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

}  // namespace

std::vector<ShardFile> survey_shards(const std::vector<std::filesystem::path>& files, const RowFormat& format) {
    require_positions(format);
    if (files.empty())
        throw DataError(
            "no shard files, expected at least one .h5 or .hdf5 file\n  do: check the shards' folder in the settings");
    std::vector<ShardFile> shards;
    std::map<std::filesystem::path, std::optional<Manifest>> manifests;
    for (const std::filesystem::path& file : files) {
        const ShardReader reader(file);
        require_length(reader, format.sequence_length);
        const auto [manifest, is_new] = manifests.try_emplace(file.parent_path());
        if (is_new) manifest->second = read_manifest(file.parent_path());
        const std::optional<std::int64_t> crc32 = manifest->second ? recorded_crc32(*manifest->second, reader) : std::nullopt;
        shards.push_back({file, reader.rows(), reader.band_rows(), reader.max_predictions(), crc32});
    }
    std::sort(shards.begin(), shards.end(), [](const ShardFile& a, const ShardFile& b) {
        return std::tuple(a.file.filename(), a.file) < std::tuple(b.file.filename(), b.file);
    });
    return shards;
}

ShardRows read_checked_rows(const ShardFile& shard, std::int64_t first, std::int64_t count, const RowFormat& format) {
    const ShardReader reader(shard.file);
    require_length(reader, format.sequence_length);
    if (reader.rows() != shard.rows || reader.band_rows() != shard.band_rows || reader.max_predictions() != shard.max_predictions)
        throw DataError(concat(shard.file.string(), ": has changed since the run began: ", reader.rows(), " rows x ",
                               reader.max_predictions(), " predictions in bands of ", reader.band_rows(), ", expected ",
                               shard.rows, " x ", shard.max_predictions, " in bands of ", shard.band_rows,
                               "\n  do: leave shards alone while a run reads them"));
    ShardRows rows = reader.read(first, count);
    check_rows(rows, static_cast<std::int32_t>(format.vocab_size), shard.file.string(), first);
    return rows;
}

}  // namespace bertpretrain
