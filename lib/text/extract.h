#pragma once
// Dumps -> one file of sentences, in the convention of BERT's first release.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/threads.h"
#include "text/sentence_rules.h"

namespace bertpretrain {

struct ExtractSettings {
    std::vector<std::filesystem::path> dumps;  ///< files, folders of files, or "-"; read in this order
    std::filesystem::path output;
    std::int64_t minimum_sentences = 1;  ///< articles with fewer are left out
    SentenceRules sentences = {};
    bool tidies = false;  ///< see tidy(): mends what vanished markup leaves behind
    std::size_t threads = available_cores();
};

/// More bring nothing: one thread cuts the file into its pages for all others.
constexpr std::size_t most_extract_threads = 32;

/// What became of the pages: pages = articles + redirects + other_pages + short_articles.
struct ExtractCounts {
    std::int64_t pages = 0, articles = 0, redirects = 0;
    std::int64_t other_pages = 0;     ///< of other namespaces, or no wikitext
    std::int64_t short_articles = 0;  ///< fewer than minimum_sentences
    std::int64_t sentences = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    double seconds = 0;

    /// Adds what pages became; bytes and seconds stay.
    void add_pages(const ExtractCounts& other);
};

/// Writes every article of the dumps as one sentence per line with an empty line behind the article. The output appears when all
/// is done (until then it is OUTPUT.partial); an older one stays as it was until then. It is the same for any number of threads.
/// Memory: below 512 MiB, whatever the dumps.
/// @throws ConfigError when the output cannot be written or is one of the dumps, before anything is read
/// @throws DataError when a dump is missing (before anything is written), damaged, or when there is no article at all
ExtractCounts extract(const ExtractSettings& settings);

}  // namespace bertpretrain
