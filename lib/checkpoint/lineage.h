#pragma once
// lineage.json beside a checkpoint's files: what the checkpoint was made from, by SHA-256.
//
//     {"format_version": 1, "step": 200,
//      "files": [DIGEST],         COMPLETE.json and every file that it lists
//      "vocabulary": DIGEST,      the file that the run read; null: none
//      "data": [{"use": "training" or "held_out", "folder": ..., "manifest": DIGEST or null,
//                "shards": [DIGEST], "corpus": [DIGEST]}],
//      "started_from": [DIGEST],  the files of initialization.init_from, or the checkpoints of a mean (average_checkpoints.h);
//                                 empty: the weights came from the seed
//      "sessions": [SESSION],     each start and resume that led to this checkpoint, oldest first
//      "predecessors": [{"step": 100, "lineage_sha256": ...}]}   the earlier checkpoints of the run, oldest first
//
// DIGEST: {"file", "bytes", "sha256", "made_from": [DIGEST]}. An empty sha256 means that it is not recorded. Shards and a
// checkpoint's files are named without their folder; other files by the path that the user gave.
// The digest of a checkpoint is the SHA-256 of its lineage.json, which names all of its files.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/files/file_digest.h"

namespace bertpretrain {

inline constexpr std::string_view lineage_file = "lineage.json";

/// A folder of shards.
struct DataLineage {
    std::string use;  ///< "training", "held_out"
    std::string folder;
    std::optional<FileDigest> manifest;
    std::vector<FileDigest> shards, corpus;  ///< as the manifest records them
};

/// The steps from one start or resume to the next.
struct SessionLineage {
    std::int64_t begin = 0;  ///< completed updates at its start
    std::int64_t ranks = 0;
    std::string settings_sha256;  ///< settings_digest() (train/audit/run_sessions.h)
    std::string computed_by;      ///< computed_by() (train/audit/run_sessions.h)
    std::string program, version, commit;
    std::map<std::string, std::string> libraries;  ///< their versions by name
};

/// Names a checkpoint by its digest.
struct LineageLink {
    std::int64_t step = 0;
    std::string sha256;  ///< empty: it has no lineage.json
};

struct Lineage {
    std::int64_t step = 0;
    std::vector<FileDigest> files;
    std::optional<FileDigest> vocabulary;
    std::vector<DataLineage> data;
    std::vector<FileDigest> started_from;
    std::vector<SessionLineage> sessions;
    std::vector<LineageLink> predecessors;
};

/// Returns the content of lineage.json.
std::string lineage_text(const Lineage& lineage);

/// @throws DataError when the file cannot be read, is damaged or of a newer version
Lineage read_lineage(const std::filesystem::path& file);
/// @param where named in messages  @throws DataError as read_lineage()
Lineage parse_lineage(const std::string& text, const std::string& where);

/// Returns the digests of a complete checkpoint's files, sorted by name. Reads all of them.
/// @param sign_of_life as in digest_of_file()  @throws CheckpointError, DataError
std::vector<FileDigest> digests_of_checkpoint(const std::filesystem::path& folder,
                                              const std::function<void()>& sign_of_life = {});

/// Returns what a folder of shards records of itself. Reads its manifest only, so shards without a record have no digest.
/// @param shards of the folder that are used  @throws DataError when the manifest is damaged
DataLineage lineage_of_data(const std::string& use, const std::filesystem::path& folder,
                            const std::vector<std::filesystem::path>& shards);

}  // namespace bertpretrain
