#include "text/wiki/page_parser.h"

#include "text/wiki/dump_parser.h"
#include "text/wiki/wikiextractor_parser.h"

namespace bertpretrain {

void parse_pages(const PageChunk& chunk, const std::function<void(Page&)>& visit) {
    if (chunk.file->format == PageFile::Format::wikiextractor) parse_documents(chunk, visit);
    else parse_dump(chunk, visit);
}

}  // namespace bertpretrain
