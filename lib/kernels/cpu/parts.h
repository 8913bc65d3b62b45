#pragma once
// The division of a number of things into parts of nearly equal size.

#include <cstdint>

namespace bertpretrain::cpu {

struct Range {
    std::int64_t begin, end;
    std::int64_t count() const { return end - begin; }
};

struct Parts {
    std::int64_t whole, parts;

    /// The fewest parts of at most `most` things each.
    static Parts of_up_to(std::int64_t most, std::int64_t whole) { return {whole, (whole + most - 1) / most}; }

    std::int64_t first(std::int64_t part) const { return part * whole / parts; }
    Range range(std::int64_t part) const { return {first(part), first(part + 1)}; }
    std::int64_t count(std::int64_t part) const { return range(part).count(); }
    /// Returns the size of the largest part.
    std::int64_t most() const { return (whole + parts - 1) / parts; }
};

}  // namespace bertpretrain::cpu
