#pragma once
// What the Punkt algorithm has learned about a language.

#include <filesystem>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace bertpretrain {

/// In which places a word type was seen with which first letter, as bits.
enum Orthography : int {
    upper_at_start = 2,
    upper_inside = 4,
    upper_somewhere = 8,
    lower_at_start = 16,
    lower_inside = 32,
    lower_somewhere = 64,
    any_upper = upper_at_start | upper_inside | upper_somewhere,
    any_lower = lower_at_start | lower_inside | lower_somewhere,
};

struct PunktParameters {
    std::unordered_set<std::string> abbreviations;      ///< without their last period
    std::unordered_set<std::string> collocations;       ///< "first\tsecond": no sentence ends between them
    std::unordered_set<std::string> sentence_starters;  ///< capitalised, they begin a sentence behind an abbreviation
    std::unordered_map<std::string, int> orthography;   ///< word type -> bits of Orthography

    int orthography_of(const std::string& type) const {
        const auto found = orthography.find(type);
        return found == orthography.end() ? 0 : found->second;
    }

    /// Reads abbrev_types.txt, collocations.tab, sent_starters.txt and ortho_context.tab, the files in which NLTK publishes them.
    /// @throws ConfigError when the folder lacks one of them
    /// @throws DataError naming file and line
    static PunktParameters read(const std::filesystem::path& folder);
};

}  // namespace bertpretrain
