#pragma once
// A build of shards in parts: several processes, on one host or many, each make some of the shards of one folder.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Part `number` of `count`, from 1. The default is the whole build.
struct BuildPart {
    std::int64_t number = 1, count = 1;

    bool is_whole() const { return count == 1; }
    /// "building.json", or "building_2_of_4.json": marks a folder whose shards are being made, names this part's shards, and is
    /// locked by the process that makes them.
    std::string building_file() const;
    /// "made.json", or "made_2_of_4.json": the part's shards that are finished (part_record.h).
    std::string record_file() const;
    /// Every count-th one.
    std::vector<std::string> files_of(const std::vector<std::string>& all) const;

    bool operator==(const BuildPart&) const = default;
};

/// @param text "I/N", such as "2/4"  @throws ConfigError for anything else, and unless 1 <= I <= N <= 10,000
BuildPart parse_part(std::string_view text);

/// Returns the parts, in order, that have a building file in a folder.
std::vector<BuildPart> parts_in(const std::filesystem::path& folder);

}  // namespace bertpretrain
