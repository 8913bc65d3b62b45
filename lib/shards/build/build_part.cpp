#include "shards/build/build_part.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "core/files/files.h"
#include "shards/manifest.h"

namespace bertpretrain {
namespace {

constexpr std::string_view building_begin = "building", name_end = ".json";

std::optional<BuildPart> part_named(std::string_view file) {
    if (file == building_name) return BuildPart();
    const std::optional<Part> part = part_of_name(file, building_begin, name_end);
    return part ? std::optional(BuildPart{*part}) : std::nullopt;
}

}  // namespace

std::string BuildPart::building_file() const {
    return is_whole() ? building_name : name_of_part(building_begin, *this, name_end);
}
std::string BuildPart::record_file() const { return is_whole() ? "made.json" : name_of_part("made", *this, name_end); }

std::vector<std::string> BuildPart::files_of(const std::vector<std::string>& all) const {
    std::vector<std::string> own;
    for (auto i = static_cast<std::size_t>(number - 1); i < all.size(); i += static_cast<std::size_t>(count))
        own.push_back(all[i]);
    return own;
}

std::vector<BuildPart> parts_in(const std::filesystem::path& folder) {
    std::vector<BuildPart> parts;
    std::error_code failure;
    for (const std::filesystem::path& file : folder_entries(folder, failure))
        if (const auto part = part_named(file.filename().string())) parts.push_back(*part);
    std::ranges::sort(parts, {}, [](const BuildPart& part) { return std::pair(part.count, part.number); });
    return parts;
}

}  // namespace bertpretrain
