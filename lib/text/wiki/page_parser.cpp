#include "text/wiki/page_parser.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.h"
#include "text/utf8.h"
#include "text/wiki/dump_parser.h"
#include "text/wiki/entities.h"

namespace bertpretrain {
namespace {

std::string_view attribute(std::string_view tag, std::string_view name) {
    const std::size_t at = tag.find(concat(" ", name, "=\""));
    if (at == std::string_view::npos) return {};
    const std::string_view value = tag.substr(at + name.size() + 3);
    return value.substr(0, value.find(name == "title" ? std::string_view("\">") : std::string_view("\"")));  // titles hold quotes
}

/// Parses WikiExtractor's output: per page a line <doc id="" url="" title="">, the title, an empty line, paragraphs, and </doc>.
/// The text of a page is as in the file.
void parse_documents(const PageChunk& chunk, const std::function<void(Page&)>& visit) {
    const std::string_view text = chunk.text;
    std::uint64_t line_number = chunk.first_line;
    Page page;
    bool inside = false, title_passed = false;
    const auto place = [&] { return concat(chunk.file->name, ":", line_number, ": "); };
    for (std::size_t begin = 0; begin < text.size(); ++line_number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        if (!inside) {
            if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
            if (!line.starts_with("<doc "))
                throw DataError(concat(place(), "expected <doc id=...>, found \"", line.substr(0, 60), "\"; extract it again"));
            page = {};
            page.is_prose = inside = true;
            title_passed = false;
            page.title = decode_entities(attribute(line, "title"));
            const std::string_view id = attribute(line, "id");
            std::from_chars(id.data(), id.data() + id.size(), page.id);
        } else if (line == "</doc>" || line == "</doc>\r") {
            visit(page);
            inside = false;
        } else if (!std::exchange(title_passed, true)) {
            continue;
        } else {
            page.text.append(line).append("\n");
        }
    }
    if (inside) throw DataError(concat(place(), "cut short: its last document has no </doc>; extract it again"));
}

}  // namespace

void parse_pages(const PageChunk& chunk, const std::function<void(Page&)>& visit) {
    if (chunk.file->format == PageFile::Format::wikiextractor) parse_documents(chunk, visit);
    else parse_dump(chunk, visit);
}

}  // namespace bertpretrain
