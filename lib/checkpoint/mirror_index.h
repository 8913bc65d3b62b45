#pragma once
// mirror.json: the checkpoints that a mirror in an object store holds.
//
//     {"format_version": 1,
//      "run_id": "0f1e2d3c4b5a6978",                                                  the run's, by which trackers know it
//      "checkpoints": [{"step": 200, "folder": "step_00000200", "abandoned": false, "files": [DIGEST]}],   oldest first
//      "unfinished": {"step_00000300": ["model.pt", ...]}}
//
// A store replaces an object as a whole, so a checkpoint appears and disappears by one write of this file: what is not listed is
// not complete. "unfinished" has the objects of uploads that began and of checkpoints that are no longer listed; a later upload
// deletes or replaces them. DIGEST: {"file", "bytes", "sha256"} (checkpoint/lineage.h).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/file_digest.h"

namespace bertpretrain {

inline constexpr std::string_view mirror_file = "mirror.json";

struct MirroredCheckpoint {
    std::int64_t step = 0;
    std::string folder;             ///< in the mirror
    std::vector<FileDigest> files;  ///< all files of the checkpoint's folder, lineage.json included
    bool abandoned = false;         ///< the run has continued from an earlier step; no start uses it

    const FileDigest* find(std::string_view file) const;
};

struct MirrorIndex {
    std::string run_id;                                          ///< empty: not recorded
    std::vector<MirroredCheckpoint> checkpoints;                 ///< by step
    std::map<std::string, std::vector<std::string>> unfinished;  ///< names of files by folder

    /// Returns the checkpoint of a step that is not abandoned; null if there is none.
    const MirroredCheckpoint* find(std::int64_t step) const;
    /// Moves a checkpoint, by its index, to the unfinished ones.
    void drop(std::size_t index);
};

/// Returns the content of mirror.json.
std::string mirror_text(const MirrorIndex& index);

/// Names of folders and files are checked: they contain no path. @param where named in messages
/// @throws CheckpointError when the text is damaged or of a newer version
MirrorIndex parse_mirror(const std::string& text, const std::string& where);

}  // namespace bertpretrain
