#pragma once
// A build of shards in parts: several processes, on one host or many, each make some of the shards of one folder.

#include <filesystem>
#include <string>
#include <vector>

#include "core/part.h"

namespace bertpretrain {

/// A part of a build; the default is the whole build.
struct BuildPart : Part {
    /// "building.json", or "building_2_of_4.json": marks a folder whose shards are being made, names this part's shards, and is
    /// locked by the process that makes them.
    std::string building_file() const;
    /// "made.json", or "made_2_of_4.json": the part's shards that are finished (part_record.h).
    std::string record_file() const;
    /// Every count-th one.
    std::vector<std::string> files_of(const std::vector<std::string>& all) const;
};

/// Returns the parts, in order, that have a building file in a folder.
std::vector<BuildPart> parts_in(const std::filesystem::path& folder);

}  // namespace bertpretrain
