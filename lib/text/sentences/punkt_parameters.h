#pragma once
// The parameters that the Punkt algorithm learns about a language.

#include <filesystem>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace bertpretrain {

/// Bits for the positions in a sentence in which a word type was seen with an upper or lower case first letter.
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
    std::unordered_set<std::string> collocations;       ///< "first\tsecond": no sentence ends between the two
    std::unordered_set<std::string> sentence_starters;  ///< capitalised, they begin a sentence after an abbreviation
    std::unordered_map<std::string, int> orthography;   ///< word type -> bits of Orthography

    int orthography_of(const std::string& type) const {
        const auto found = orthography.find(type);
        return found == orthography.end() ? 0 : found->second;
    }

    /// Reads NLTK's files abbrev_types.txt, collocations.tab, sent_starters.txt and ortho_context.tab.
    /// @throws ConfigError when the folder lacks one of them
    /// @throws DataError with file and line when a line is malformed
    static PunktParameters read(const std::filesystem::path& folder);
};

}  // namespace bertpretrain
