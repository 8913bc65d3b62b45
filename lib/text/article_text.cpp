#include "text/article_text.h"

#include <algorithm>

#include "text/page_parser.h"
#include "text/wiki_lines.h"
#include "text/wikitext.h"

namespace bertpretrain {

ChunkProse prose_of_chunk(const PageChunk& chunk, bool tidies) {
    ChunkProse prose;
    parse_pages(chunk, [&](Page& page) {
        ++prose.counts.pages;
        if (page.is_redirect) ++prose.counts.redirects;
        else if (!is_article(page)) ++prose.counts.other_pages;
        else if (page.is_prose) prose.articles.push_back(paragraphs_of_prose(page.text, tidies));
        else prose.articles.push_back(prose_of(page.text, chunk.file->namespaces, tidies));
    });
    return prose;
}

ChunkText text_of(const ChunkProse& prose, const SplitSentences& split, std::int64_t minimum_sentences) {
    ChunkText result;
    result.counts = prose.counts;
    for (const std::vector<std::string>& article : prose.articles) {
        const std::size_t begin = result.text.size();
        std::int64_t sentences = 0;
        for (const std::string& paragraph : article)
            for (const std::string& sentence : split(paragraph)) {
                result.text.append(sentence).append("\n");
                ++sentences;
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
