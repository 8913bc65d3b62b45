#pragma once
// Pages of WikiExtractor's output: <doc id="" url="" title=""> lines, a title, an empty line, paragraphs, </doc>.

#include <functional>

#include "text/page_chunks.h"

namespace bertpretrain {

/// parse_pages() for such a file. Escaped characters of newer versions are read; headings and lists that older versions keep on
/// request ("Section::::", "BULLET::::") are left out, as everywhere else.
void parse_documents(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
