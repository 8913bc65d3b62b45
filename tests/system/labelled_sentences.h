#pragma once
// A labelled task made from the sample's text.

#include <sstream>

#include "system/small_run.h"

namespace bertpretrain::testing {

/// Writes a third of the sample's short sentences with a label that their words determine in part. @returns the number of lines
inline std::int64_t write_labelled_sentences(const std::filesystem::path& file) {
    std::istringstream text(read_text(sample_data().text));
    std::string task;
    std::int64_t lines = 0, seen = 0;
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line.size() > 200 || ++seen % 3 != 0) continue;
        const bool has_digit = line.find_first_of("0123456789") != line.npos, has_comma = line.find(',') != line.npos;
        task += std::string(has_digit ? "number" : has_comma ? "list" : "plain") + "\t" + line + "\n";
        ++lines;
    }
    write_text(file, task);
    return lines;
}

}  // namespace bertpretrain::testing
