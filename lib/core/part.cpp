#include "core/part.h"

#include <charconv>
#include <system_error>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t most_parts = 10'000;
constexpr std::string_view before_number = "_", before_count = "_of_";

std::optional<Part> part_of(std::string_view number, std::string_view count) {
    Part part;
    const auto read = [](std::string_view text, std::int64_t& value) {
        const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
        return failure == std::errc() && rest == text.data() + text.size();
    };
    if (!read(number, part.number) || !read(count, part.count)) return std::nullopt;
    if (part.number < 1 || part.number > part.count || part.count > most_parts) return std::nullopt;
    return part;
}

}  // namespace

std::string Part::text() const { return concat(number, "/", count); }

Part parse_part(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash != text.npos)
        if (const auto part = part_of(text.substr(0, slash), text.substr(slash + 1))) return *part;
    throw ConfigError(concat("--part ", text, ": expected I/N with 1 <= I <= N <= ", with_thousands(most_parts),
                             ", such as 2/4 for the second of four parts"));
}

std::string name_of_part(std::string_view begin, const Part& part, std::string_view end) {
    return concat(begin, before_number, part.number, before_count, part.count, end);
}

std::optional<Part> part_of_name(std::string_view name, std::string_view begin, std::string_view end) {
    if (name.size() < begin.size() + before_number.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end))
        return std::nullopt;
    name.remove_prefix(begin.size());
    name.remove_suffix(end.size());
    if (!name.starts_with(before_number)) return std::nullopt;
    name.remove_prefix(before_number.size());
    const std::size_t between = name.find(before_count);
    return between == name.npos ? std::nullopt : part_of(name.substr(0, between), name.substr(between + before_count.size()));
}

}  // namespace bertpretrain
