#pragma once
// Pages of MediaWiki's export format (XML), by expat.

#include <functional>

#include "text/page_chunks.h"

namespace bertpretrain {

/// parse_pages() for a dump.
void parse_dump(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
