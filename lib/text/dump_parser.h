#pragma once
// Parses MediaWiki's export format (XML) with expat.

#include <functional>
#include <string_view>

#include "text/page_chunk.h"

namespace bertpretrain {

/// Parses what precedes the first page of a dump, and sets the encoding and the namespaces in `file`.
/// @param is_whole whether the file ends there @throws DataError when it is not a dump or is damaged
void parse_header(std::string_view xml, PageFile& file, bool is_whole);

/// Implements parse_pages() for a dump.
void parse_dump(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
