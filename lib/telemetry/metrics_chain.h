#pragma once
// The chain of metrics.jsonl. Each line ends with a hash of itself and of the line before it, so that a line that was edited,
// removed, added or moved is found. The hash has no key: it finds changes, but a program can write a new chain. `audit` therefore
// also recomputes steps.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns a line's chain value: the first 16 hex digits of the SHA-256 of `before`, "\n" and the line.
/// @param before chain value of the line before; empty for the first line
/// @param line JSON object without its chain value and without "\n"
std::string chain_value(std::string_view before, std::string_view line);

/// A line of the file, divided into what is hashed and the recorded value.
struct ChainedLine {
    std::string content;                  ///< the JSON object without its chain value
    std::optional<std::string> recorded;  ///< nullopt: the line has none, as in runs of earlier versions

    /// @param line without "\n"
    static ChainedLine of(std::string_view line);
    /// Returns the line with `value` as its last member, "chain". @param content non-empty JSON object
    static std::string with(std::string_view content, std::string_view value);

    /// Returns the value that the next line continues.
    std::string value(std::string_view before) const { return recorded ? *recorded : chain_value(before, content); }
};

struct ChainCheck {
    std::int64_t lines = 0;      ///< lines up to the break, or all
    std::int64_t unchained = 0;  ///< lines without a value before the first with one: written by earlier versions
    std::string last;            ///< value of the last of these lines
    std::string broken;          ///< names the first line that does not fit, with its step; empty: the chain is intact
    std::optional<std::int64_t> broken_step;  ///< of that line, where it can be read
};

/// Verifies every line of a metrics file; ignores an incomplete last line, which a run may be writing. Holds one line in memory.
/// @throws DataError if the file cannot be read
ChainCheck verify_chain(const std::filesystem::path& file);

/// Returns the value that the next line of the file must continue; empty for a file without lines. @throws DataError
std::string last_chain_value(const std::filesystem::path& file);

}  // namespace bertpretrain
