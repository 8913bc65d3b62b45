#pragma once
// Parses WikiExtractor's output: per page a line <doc id="" url="" title="">, the title, an empty line, paragraphs, and </doc>.

#include <functional>

#include "text/page_chunks.h"

namespace bertpretrain {

/// Implements parse_pages() for such a file. Decodes the characters that newer versions escape. Drops headings and lists, which
/// older versions keep on request ("Section::::", "BULLET::::").
void parse_documents(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
