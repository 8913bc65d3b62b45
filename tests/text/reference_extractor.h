#pragma once
// What WikiExtractor made of dumps, and how far we agree with it.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "page_reader.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "text/sentences/sentence_rules.h"
#include "text/wiki/wikitext.h"

namespace bertpretrain::testing {

// In the shared data.
inline constexpr const char* real_dump = "wiki_xml/gensim-enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2";
inline constexpr const char* reference_output = "wikiextractor_pairs/c_gensim_wikiextractor-6408a43.txt";

struct ReferenceDocument {
    std::string title, text;
};

/// Returns the <doc> elements of a WikiExtractor file, without their first line, which repeats the title.
inline std::vector<ReferenceDocument> reference_documents(const std::string& content) {
    std::vector<ReferenceDocument> documents;
    for (std::size_t at = content.find("<doc id="); at != std::string::npos; at = content.find("<doc id=", at + 1)) {
        const std::size_t title = content.find("title=\"", at) + 7, body = content.find('\n', content.find('\n', at) + 1);
        documents.push_back(
            {content.substr(title, content.find('"', title) - title), content.substr(body, content.find("</doc>", at) - body)});
    }
    return documents;
}

/// How often each sentence occurs.
using SentenceCounts = std::map<std::string, std::int64_t>;

inline void count_sentences(SentenceCounts& counts, const SplitSentences& split, const std::string& paragraph) {
    for (const std::string& sentence : split(paragraph)) ++counts[sentence];
}

/// F1 of sentences, byte for byte, article by article, in both outputs (matched as multisets); articles that the reference lacks
/// do not count.
inline double sentence_f1(const std::filesystem::path& dump, const std::vector<ReferenceDocument>& reference,
                          const SplitSentences& split) {
    std::map<std::string, SentenceCounts> theirs;
    for (const ReferenceDocument& document : reference) {
        SentenceCounts& counts = theirs[document.title];
        for (std::size_t begin = 0, end = 0; begin < document.text.size(); begin = end + 1) {
            end = std::min(document.text.find('\n', begin), document.text.size());
            count_sentences(counts, split, document.text.substr(begin, end - begin));
        }
    }
    std::int64_t ours_all = 0, theirs_all = 0, both = 0;
    PageReader reader(dump);
    const auto next = [&](Page& page) {
        try {
            return reader.next(page);
        } catch (const DataError&) { return false; }  // pair b's dump is cut short
    };
    for (Page page; next(page);) {
        const auto found = theirs.find(page.title);
        if (!is_article(page) || found == theirs.end()) continue;
        SentenceCounts ours;
        for (const std::string& paragraph : prose_of(page.text, reader.namespaces())) count_sentences(ours, split, paragraph);
        for (const auto& [sentence, count] : found->second) theirs_all += count;
        for (const auto& [sentence, count] : ours) {
            ours_all += count;
            const auto common = found->second.find(sentence);
            if (common != found->second.end()) both += std::min(count, common->second);
        }
    }
    return 2.0 * static_cast<double>(both) / static_cast<double>(ours_all + theirs_all);
}

}  // namespace bertpretrain::testing
