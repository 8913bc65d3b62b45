#include "shards/build/build_part.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/files/files.h"
#include "core/strings.h"
#include "shards/manifest.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t most_build_parts = 10'000;
constexpr std::string_view name_begin = "building_", name_middle = "_of_", name_end = ".json";

std::string with_numbers(std::string_view name, const BuildPart& part) {
    return part.is_whole() ? concat(name, name_end) : concat(name, "_", part.number, name_middle, part.count, name_end);
}

std::optional<BuildPart> part_of(std::string_view number, std::string_view count) {
    BuildPart part;
    const auto read = [](std::string_view text, std::int64_t& value) {
        const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        return failure == std::errc() && rest == text.data() + text.size();
    };
    if (!read(number, part.number) || !read(count, part.count)) return std::nullopt;
    if (part.number < 1 || part.number > part.count || part.count > most_build_parts) return std::nullopt;
    return part;
}

std::optional<BuildPart> part_named(std::string_view file) {
    if (file == building_name) return BuildPart();
    if (!file.starts_with(name_begin) || !file.ends_with(name_end)) return std::nullopt;
    file.remove_prefix(name_begin.size());
    file.remove_suffix(name_end.size());
    const std::size_t between = file.find(name_middle);
    return between == file.npos ? std::nullopt : part_of(file.substr(0, between), file.substr(between + name_middle.size()));
}

}  // namespace

std::string BuildPart::building_file() const { return with_numbers("building", *this); }
std::string BuildPart::record_file() const { return with_numbers("made", *this); }

std::vector<std::string> BuildPart::files_of(const std::vector<std::string>& all) const {
    std::vector<std::string> own;
    for (auto i = static_cast<std::size_t>(number - 1); i < all.size(); i += static_cast<std::size_t>(count))
        own.push_back(all[i]);
    return own;
}

BuildPart parse_part(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash != text.npos)
        if (const auto part = part_of(text.substr(0, slash), text.substr(slash + 1))) return *part;
    throw ConfigError(concat("--part ", text, ": expected I/N with 1 <= I <= N <= ", with_thousands(most_build_parts),
                             ", such as 2/4 for the second of four parts"));
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
