#pragma once
// A part of work that several processes share, on one host or many.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Part `number` of `count`, from 1. The default is the whole work.
struct Part {
    std::int64_t number = 1, count = 1;

    bool is_whole() const { return count == 1; }
    std::string text() const;  ///< "2/4"

    bool operator==(const Part&) const = default;
};

/// @param text "I/N", such as "2/4"  @throws ConfigError for anything else, and unless 1 <= I <= N <= 10,000
Part parse_part(std::string_view text);

/// Returns BEGIN_I_of_NEND, such as "made_2_of_4.json"; parts of one work so have files of their own.
std::string name_of_part(std::string_view begin, const Part& part, std::string_view end);
/// Returns the part whose name_of_part() a file's name is; nullopt for other names.
std::optional<Part> part_of_name(std::string_view name, std::string_view begin, std::string_view end);

}  // namespace bertpretrain
