#pragma once
// Removes repeated documents and sentences from a corpus.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/threads/threads.h"
#include "deduplication/deduplication_report.h"
#include "text/formats/input_settings.h"

namespace bertpretrain {

struct DeduplicationSettings {
    std::vector<std::filesystem::path> inputs;  ///< files, folders of them, or "-"
    InputSettings reading = {};
    std::filesystem::path output;  ///< a folder
    std::uint64_t memory = std::uint64_t{2} << 30;
    double threshold = 0.8;  ///< the least Jaccard value of near-duplicates
    std::size_t shingle_words = 5;
    bool near = true;                  ///< false: only equal documents
    std::uint64_t sentence_limit = 0;  ///< a sentence that occurs more often keeps its first place only; 0: all stay
    std::size_t examples = 10;         ///< of each kind in the report
    std::size_t threads = available_cores();
};

inline constexpr std::uint64_t least_deduplication_memory = std::uint64_t{64} << 20;

/// Three steps, of which each sees only what the earlier ones left:
/// 1. documents with the same words in the same order (ContentHash);
/// 2. documents whose shingle sets have a Jaccard value of at least `threshold`, directly or through others (near_duplicates.h);
/// 3. sentences that occur more than `sentence_limit` times.
/// The first document of each group in input order stays. Writes text.txt (one sentence per line, an empty line after each
/// document), its text.txt.lineage.json (text_lineage.h), duplicates.tsv (each removed document), report.json and report.txt into
/// the output folder; each appears only when it is complete. The files do not depend on the number of threads or the memory.
/// Memory: `memory`, and about eight times the largest document. Disk, while it runs: the text, and 16 bytes per document and per
/// sentence (if they are limited) and 264 per document for its bands, as far as these exceed half of the memory.
/// @throws ConfigError when the output cannot be written, is an input, another process is writing there, or the memory is too
/// small for the number of documents
/// @throws DataError when an input is missing or damaged, has no document, or the disk is full
DeduplicationReport deduplicate(const DeduplicationSettings& settings);

}  // namespace bertpretrain
