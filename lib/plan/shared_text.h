#pragma once
// Held-out rows that were made of text which other shards train on.

#include <filesystem>
#include <string>
#include <vector>

#include "shards/manifest.h"

namespace bertpretrain {

struct FolderManifest {
    std::filesystem::path folder;
    Manifest manifest;
};

/// Returns a warning for each folder of held-out shards whose text a folder of training shards may contain too: both were made of
/// the same file, and not in a way that puts the same articles aside (the same seed, all files the same, and at least the same
/// share of them). Rows of one folder are always apart. Folders that do not record their files are taken for apart.
std::vector<std::string> warn_of_shared_text(const std::vector<FolderManifest>& training,
                                             const std::vector<FolderManifest>& held_out);

}  // namespace bertpretrain
