#include "text/page_parser.h"

#include "text/dump_parser.h"
#include "text/wikiextractor_parser.h"

namespace bertpretrain {

void parse_pages(const PageChunk& chunk, const std::function<void(Page&)>& visit) {
    if (chunk.file->format == PageFile::Format::wikiextractor) parse_documents(chunk, visit);
    else parse_dump(chunk, visit);
}

}  // namespace bertpretrain
