#include "text/wiki/article_text.h"

#include <string_view>
#include <utility>

#include "text/white_space.h"
#include "text/wiki/page_parser.h"
#include "text/wiki/wikiextractor_prose.h"
#include "text/wiki/wikitext.h"

namespace bertpretrain {
namespace {

/// Joins paragraphs into one string, one per line. A string for each would cost too much memory, as one may be a single byte.
std::string lines_of(const std::vector<std::string>& paragraphs) {
    std::size_t bytes = 0;
    for (const std::string& paragraph : paragraphs) bytes += paragraph.size() + 1;
    std::string lines;
    lines.reserve(bytes);
    for (const std::string& paragraph : paragraphs) (lines += paragraph) += '\n';
    return lines;
}

}  // namespace

DocumentBatch articles_of_chunk(const PageChunk& chunk, ProseRules rules) {
    DocumentBatch batch;
    batch.file = chunk.file->name;
    rules.all_names_known = chunk.file->names_namespaces;
    parse_pages(chunk, [&](Page& page) {
        ++batch.counts.pages;
        if (page.is_redirect) ++batch.counts.redirects;
        else if (!is_article(page)) ++batch.counts.other_pages;
        else
            batch.documents.push_back({0, page.title,
                                       lines_of(page.is_prose ? paragraphs_of_prose(page.text, rules)
                                                              : prose_of(page.text, chunk.file->namespaces, rules))});
    });
    return batch;
}

void split_sentences(DocumentBatch& batch, const SplitSentences& split) {
    if (std::exchange(batch.lines_are_sentences, true)) return;
    for (Document& document : batch.documents) {
        const std::string paragraphs = std::exchange(document.text, {});
        for (std::size_t at = 0, end = 0; at < paragraphs.size(); at = end + 1) {
            end = paragraphs.find('\n', at);
            for (const std::string& sentence : split(std::string_view(paragraphs).substr(at, end - at)))
                // What is left of a paragraph may be a no-break space, and a blank line would end the document.
                if (!is_blank_line(sentence)) document.text.append(sentence) += '\n';
        }
    }
}

}  // namespace bertpretrain
