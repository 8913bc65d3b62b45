#pragma once
// Parses the pages in a chunk of a file.

#include <functional>

#include "text/wiki/page_chunk.h"

namespace bertpretrain {

/// Calls visit(page) for every page of the chunk, in order. `visit` may move the page's strings. Memory: that of one page.
/// @throws DataError with file, line and byte when the chunk is damaged or cut short. All whole pages before the damage have
/// been visited by then.
void parse_pages(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
