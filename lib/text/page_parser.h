#pragma once
// The pages in a chunk of a file.

#include <functional>
#include <string_view>

#include "text/page_chunks.h"

namespace bertpretrain {

/// Reads what precedes the first page of a dump: its encoding and its namespaces.
/// @param is_whole the file ends there @throws DataError when it is no dump, or damaged
void parse_header(std::string_view xml, PageFile& file, bool is_whole);

/// Calls visit(page) for every page of the chunk, in order; it may take the page's strings. Memory: that of one page.
/// @throws DataError with file, line and byte, where the chunk is damaged or cut short; every whole page before that place has
///     been visited by then
void parse_pages(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
