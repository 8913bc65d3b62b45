#pragma once
// Extracts sentences from dumps into one file, in the format of BERT's original release.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/threads.h"
#include "text/extract_counts.h"
#include "text/sentence_rules.h"
#include "text/wiki_lines.h"

namespace bertpretrain {

struct ExtractSettings {
    std::vector<std::filesystem::path> dumps;  ///< files, folders of files, or "-"; read in this order
    std::filesystem::path output;
    std::int64_t minimum_sentences = 1;  ///< articles with fewer sentences are left out
    SentenceRules sentences = {};
    ProseRules prose = {};
    std::size_t threads = available_cores();
};

/// More threads give no speedup, because one thread splits the file into pages for all others.
constexpr std::size_t most_extract_threads = 32;

/// Writes every article of the dumps, one sentence per line, with an empty line after each article. Writes OUTPUT.partial and
/// renames it at the end, so an older output stays unchanged until then. The output does not depend on the number of threads.
/// Memory: below 512 MiB for any dumps.
/// @throws ConfigError before anything is read, when the output cannot be written or is one of the dumps
/// @throws DataError when a dump is missing (before anything is written) or damaged, or when no article is found
ExtractCounts extract(const ExtractSettings& settings);

}  // namespace bertpretrain
