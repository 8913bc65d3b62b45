// Any vocabulary and any bytes as text, under every tool's rules and every casing: the ids equal those of a plain search for the
// longest piece, and a word's ids do not depend on the text beyond the next space.

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "tokens/models/wordpiece.h"
#include "tokens/plain_matcher.h"
#include "tokens/training/line_blocks.h"

namespace {

using namespace bertpretrain;

void expect(bool holds) {
    if (!holds) std::abort();
}

/// Reads a vocabulary: the special tokens, then the first lines up to an empty one. @throws DataError, for example if a token is
/// repeated
std::shared_ptr<const Vocabulary> read_vocabulary(std::string_view& input) {
    std::vector<std::string> tokens(std::begin(special_tokens), std::end(special_tokens));
    while (!input.empty()) {
        const std::string_view line = input.substr(0, input.find('\n'));
        input.remove_prefix(std::min(input.size(), line.size() + 1));
        if (line.empty()) break;
        tokens.emplace_back(line);
    }
    return std::make_shared<const Vocabulary>(tokens, "fuzz");
}

std::vector<std::string> words_of(std::string_view text, Casing casing, TokenRules rules) {
    std::vector<std::string> words;
    WordReader reader(casing, rules);
    reader.start(text);
    for (std::string_view word = reader.next(); !word.empty(); word = reader.next()) words.emplace_back(word);
    return words;
}

void check_blanks(std::string_view text, const std::vector<std::string>& words, Casing casing, TokenRules rules) {
    const std::size_t blank = text.find(' ', text.size() / 2);
    if (blank == std::string_view::npos) return;
    std::vector<std::string> halves = words_of(text.substr(0, blank), casing, rules);
    for (const std::string& word : words_of(text.substr(blank), casing, rules)) halves.push_back(word);
    expect(halves == words);
}

void check_text(std::shared_ptr<const Vocabulary> vocabulary, std::string_view text, Casing casing, TokenRules rules) {
    const WordPiece wordpiece(vocabulary, casing, rules);
    const std::vector<std::int32_t> ids = wordpiece.encode(text);
    for (const std::int32_t id : ids) expect(id >= 0 && id < vocabulary->size());
    const std::vector<std::string> words = words_of(text, casing, rules);
    check_blanks(text, words, casing, rules);
    if (text.find('[') != std::string_view::npos && rules != TokenRules::google) return;  // may be a special token
    std::vector<std::int32_t> expected;
    for (const std::string& word : words)
        for (const std::int32_t id : testing::plain_match(*vocabulary, rules == TokenRules::google ? 200 : 100, word))
            expected.push_back(id);
    expect(ids == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    std::string_view input(reinterpret_cast<const char*>(data), size);
    if (input.empty()) return 0;
    const auto choice = static_cast<unsigned char>(input[0]);
    input.remove_prefix(1);
    try {
        check_text(read_vocabulary(input), input, static_cast<Casing>(choice % 4), static_cast<TokenRules>(choice / 4 % 3));
    } catch (const DataError&) {}
    return 0;
}
