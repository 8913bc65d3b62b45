#pragma once
// Pages -> paragraphs -> sentences, a chunk of a file at a time.

#include <cstdint>
#include <string>
#include <vector>

#include "text/extract.h"
#include "text/page_chunks.h"
#include "text/sentence_rules.h"

namespace bertpretrain {

/// The articles of a chunk, as paragraphs of prose.
struct ChunkProse {
    ExtractCounts counts;               ///< pages, redirects and other pages so far
    std::vector<std::string> articles;  ///< one paragraph per line
};

/// @throws DataError as parse_pages()
ChunkProse prose_of_chunk(const PageChunk& chunk, bool tidies);

/// The articles with as many sentences as asked for: one per line, an empty line behind each article.
struct ChunkText {
    ExtractCounts counts;
    std::string text;
};
ChunkText text_of(const ChunkProse& prose, const SplitSentences& split, std::int64_t minimum_sentences);

}  // namespace bertpretrain
