#pragma once
// Parses MediaWiki's export format (XML) with expat.

#include <functional>

#include "text/page_chunks.h"

namespace bertpretrain {

/// Implements parse_pages() for a dump.
void parse_dump(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
