#pragma once
// Turns pages into paragraphs and sentences, one chunk of a file at a time.

#include <cstdint>
#include <string>
#include <vector>

#include "text/extract_counts.h"
#include "text/page_chunk.h"
#include "text/sentence_rules.h"
#include "text/wiki_lines.h"

namespace bertpretrain {

/// The articles of a chunk, as paragraphs of prose.
struct ChunkProse {
    ExtractCounts counts;               ///< only pages, redirects and other_pages are set
    std::vector<std::string> articles;  ///< one paragraph per line
};

/// Parses a chunk and cleans its articles. @throws DataError like parse_pages()
ChunkProse prose_of_chunk(const PageChunk& chunk, ProseRules rules);

/// Articles as text: one sentence per line, an empty line after each article.
struct ChunkText {
    ExtractCounts counts;
    std::string text;
};

/// Splits the articles into sentences. Leaves out articles with fewer than `minimum_sentences` sentences, or with none.
ChunkText text_of(const ChunkProse& prose, const SplitSentences& split, std::int64_t minimum_sentences);

}  // namespace bertpretrain
