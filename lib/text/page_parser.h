#pragma once
// Parses the pages in a chunk of a file.

#include <functional>
#include <string_view>

#include "text/page_chunks.h"

namespace bertpretrain {

/// Parses what precedes the first page of a dump, and sets the encoding and the namespaces in `file`.
/// @param is_whole whether the file ends there @throws DataError when it is not a dump or is damaged
void parse_header(std::string_view xml, PageFile& file, bool is_whole);

/// Calls visit(page) for every page of the chunk, in order. `visit` may move the page's strings. Memory: that of one page.
/// @throws DataError with file, line and byte when the chunk is damaged or cut short. All whole pages before the place of the
/// damage
///     have been visited by then.
void parse_pages(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
