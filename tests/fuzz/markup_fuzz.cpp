// Wikitext: any bytes give paragraphs without line breaks, and sentences that keep the order of the words.

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentences/punkt.h"
#include "text/sentences/sentences.h"
#include "text/wiki/wikiextractor_prose.h"
#include "text/wiki/wikitext.h"

namespace {

using namespace bertpretrain;

void require(bool holds) {
    if (!holds) std::abort();
}

/// Checks that the paragraph holds all sentences in order, with only text between them that a rule may drop.
void check_sentences(const std::string& paragraph, const std::vector<std::string>& sentences) {
    std::size_t position = 0;
    for (const std::string& sentence : sentences) {
        require(!sentence.empty());
        position = paragraph.find(sentence, position);
        require(position != std::string::npos);
        position += sentence.size();
    }
}

void check_paragraphs(const std::vector<std::string>& paragraphs) {
    static const SentenceSplitter english;
    static const PunktParameters nothing;
    for (const std::string& paragraph : paragraphs) {
        require(!paragraph.empty());
        require(paragraph.find_first_of("\r\n") == std::string::npos);
        check_sentences(paragraph, english.split(paragraph));
        check_sentences(paragraph, punkt_sentences(nothing, paragraph));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const bool tidies : {false, true}) {
        check_paragraphs(prose_of(text, common_namespaces(), {tidies, tidies}));
        check_paragraphs(paragraphs_of_prose(text, {tidies, tidies}));
    }
    return 0;
}
