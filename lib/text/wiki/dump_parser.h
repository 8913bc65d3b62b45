#pragma once
// Parses MediaWiki's export format (XML) with expat.

#include <functional>

#include "text/wiki/page_chunk.h"

namespace bertpretrain {

/// Parses what precedes the first page of a dump, and sets the encoding, the namespaces and has_root in `file`.
/// @param header its text, which is_last if the file has no page @throws DataError when it is not a dump or is damaged
void parse_header(const PageChunk& header, PageFile& file);

/// Implements parse_pages() for a dump.
void parse_dump(const PageChunk& chunk, const std::function<void(Page&)>& visit);

}  // namespace bertpretrain
