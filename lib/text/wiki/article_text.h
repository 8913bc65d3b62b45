#pragma once
// Turns pages into documents, and paragraphs into sentences.

#include "text/document.h"
#include "text/sentences/sentence_rules.h"
#include "text/wiki/page_chunk.h"
#include "text/wiki/wiki_lines.h"

namespace bertpretrain {

/// Parses a chunk and cleans its articles. They have paragraphs as lines, and their titles as ids.
/// @throws DataError like parse_pages()
DocumentBatch articles_of_chunk(const PageChunk& chunk, ProseRules rules);

/// Splits the paragraphs of all documents, unless their lines are sentences.
void split_sentences(DocumentBatch& batch, const SplitSentences& split);

}  // namespace bertpretrain
