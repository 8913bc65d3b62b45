#pragma once
// Measures how well two methods of splitting sentences agree.

#include <cstddef>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "text/utf8.h"

namespace bertpretrain::testing {

/// Returns the positions in `text` where sentences end, except its own end, which is always one.
inline std::set<std::size_t> inner_ends(const std::string& text, const std::vector<std::string>& sentences) {
    std::set<std::size_t> ends;
    std::size_t position = 0;
    for (const std::string& sentence : sentences) {
        const std::string words(trimmed(sentence));
        position = text.find(words, position);
        REQUIRE(position != std::string::npos);
        position += words.size();
        ends.insert(position);
    }
    if (!ends.empty()) ends.erase(std::prev(ends.end()));
    return ends;
}

/// Returns the F1 score of sentence boundaries in the golden paragraphs of the shared data. @param tool "punkt" or "blingfire"
inline double boundary_f1(const std::string& tool, const std::function<std::vector<std::string>(const std::string&)>& split) {
    std::size_t ours = 0, theirs = 0, both = 0;
    std::ifstream golden(shared_data() / "sentences" / "golden_segmentation.jsonl");
    for (std::string line; std::getline(golden, line);) {
        const auto row = nlohmann::json::parse(line);
        const std::string text = row["text"];
        const std::set<std::size_t> own = inner_ends(text, split(text)), of_tool = inner_ends(text, row[tool]);
        ours += own.size();
        theirs += of_tool.size();
        for (const std::size_t end : own) both += of_tool.count(end);
    }
    REQUIRE(theirs > 900);
    return 2.0 * static_cast<double>(both) / static_cast<double>(ours + theirs);
}

}  // namespace bertpretrain::testing
