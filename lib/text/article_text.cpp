#include "text/article_text.h"

#include <algorithm>
#include <string_view>

#include "text/page_parser.h"
#include "text/wikiextractor_prose.h"
#include "text/wikitext.h"

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

ChunkProse prose_of_chunk(const PageChunk& chunk, ProseRules rules) {
    ChunkProse prose;
    rules.all_names_known = chunk.file->names_namespaces;
    parse_pages(chunk, [&](Page& page) {
        ++prose.counts.pages;
        if (page.is_redirect) ++prose.counts.redirects;
        else if (!is_article(page)) ++prose.counts.other_pages;
        else if (page.is_prose) prose.articles.push_back(lines_of(paragraphs_of_prose(page.text, rules)));
        else prose.articles.push_back(lines_of(prose_of(page.text, chunk.file->namespaces, rules)));
    });
    return prose;
}

ChunkText text_of(const ChunkProse& prose, const SplitSentences& split, std::int64_t minimum_sentences) {
    ChunkText result;
    result.counts = prose.counts;
    for (const std::string_view article : prose.articles) {
        const std::size_t begin = result.text.size();
        std::int64_t sentences = 0;
        for (std::size_t at = 0, end = 0; at < article.size(); at = end + 1) {
            end = article.find('\n', at);
            for (const std::string& sentence : split(article.substr(at, end - at))) {
                result.text.append(sentence).append("\n");
                ++sentences;
            }
        }
        if (sentences < std::max<std::int64_t>(minimum_sentences, 1)) {
            result.text.resize(begin);
            ++result.counts.short_articles;
            continue;
        }
        result.text += '\n';
        ++result.counts.articles;
        result.counts.sentences += sentences;
    }
    return result;
}

}  // namespace bertpretrain
