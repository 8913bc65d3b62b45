#pragma once
// What a part of a build has made so far.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/files/file_digest.h"
#include "shards/build/build_part.h"
#include "shards/manifest.h"

namespace bertpretrain {

/// The finished shards of a part. It is written after each, so that a later process goes on after them.
struct PartRecord {
    std::string makes;                       ///< digest of all that the shards' bytes depend on (digest_of_request())
    std::vector<std::string> files;          ///< the names of all parts' shards
    Manifest manifest;                       ///< with this part's shards; the corpus is named once the part is complete
    std::vector<std::int64_t> label_counts;  ///< by id, over this part's training shards' masked tokens

    /// Whether the part has all its shards and has ended, which names the corpus.
    bool is_complete(const BuildPart& part) const {
        return manifest.shards.size() == part.files_of(files).size() && !manifest.corpus.empty();
    }
};

/// Returns nullopt if the part has no record, or one that is damaged.
std::optional<PartRecord> read_part(const std::filesystem::path& folder, const BuildPart& part);
/// Writes the record atomically. @throws DataError
void write_part(const std::filesystem::path& folder, const BuildPart& part, const PartRecord& record);

/// Returns what differs between two requests (`makes`), as the end of a message: "settings.seed is 7, expected 12", else "the
/// text is another one".
std::string difference(const PartRecord& found, const PartRecord& expected);

/// @param manifest its settings, vocabulary and version of the rules count  @param texts their digests count, their names do not
/// @param files the names of all parts' shards
std::string digest_of_request(const Manifest& manifest, const std::vector<FileDigest>& texts,
                              const std::vector<std::string>& files);

}  // namespace bertpretrain
