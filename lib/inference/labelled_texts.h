#pragma once
// Reads texts with labels from a TSV file.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bertpretrain {

struct LabelledTexts {
    std::vector<std::string> labels;      ///< the classes' names, sorted
    std::vector<std::int64_t> classes_N;  ///< index into `labels`
    std::vector<std::string> texts_N;
    std::uint32_t crc32 = 0;  ///< of the file

    std::int64_t size() const { return static_cast<std::int64_t>(texts_N.size()); }
};

/// Reads a file of lines "label<tab>text" (read_text.h). Quotes are ordinary characters, as in all TSV (table_records.h). A text
/// may contain further tabs.
/// @param least_per_class examples that each label must have at least
/// @throws DataError like open_text(); also naming the file and the line, when a line lacks a tab, a label or a text, or there
/// are no lines, fewer than two labels or too few examples of a label
LabelledTexts read_labelled_texts(const std::filesystem::path& file, std::int64_t least_per_class);

}  // namespace bertpretrain
