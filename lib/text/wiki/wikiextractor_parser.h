#pragma once
// Parses WikiExtractor's output: per page a line <doc id="" url="" title="">, the title, an empty line, paragraphs, and </doc>.

#include <functional>

#include "text/wiki/page_chunk.h"

namespace bertpretrain {

/// Implements parse_pages() for such a file. The text of a page is as in the file.
void parse_documents(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
