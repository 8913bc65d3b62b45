#include "tokens/training/byte_pair_training.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/random.h"
#include "support/catch.h"
#include "support/files.h"
#include "tokens/models/open_tokenizer.h"
#include "tokens/vocabulary/byte_alphabet.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

using Pieces = std::vector<std::string>;

/// Returns the merges as bytes.
std::vector<std::pair<std::string, std::string>> merges_of(const std::string& tokenizer_json) {
    std::vector<std::pair<std::string, std::string>> merges;
    const nlohmann::json json = nlohmann::json::parse(tokenizer_json);
    for (const std::string merge : json["model"]["merges"]) {
        const std::size_t blank = merge.find(' ');
        merges.emplace_back(bytes_of_token(merge.substr(0, blank)).value(), bytes_of_token(merge.substr(blank + 1)).value());
    }
    return merges;
}

/// The oracle: recounts all pairs for each merge. Takes words of ASCII letters, whose tokens' ids ascend like their bytes.
std::vector<std::pair<std::string, std::string>> merges_found_plainly(const WordCounts& counts, std::size_t wanted) {
    std::map<std::string, std::size_t> ids;
    for (char c = ' '; c <= '~'; ++c) ids.emplace(std::string(1, c), ids.size());
    std::vector<std::pair<Pieces, std::int64_t>> words;
    for (const auto& [word, count] : counts) {
        Pieces pieces;
        for (const char c : word) pieces.emplace_back(1, c);
        words.emplace_back(pieces, count);
    }
    std::vector<std::pair<std::string, std::string>> merges;
    while (merges.size() < wanted) {
        std::map<std::pair<std::size_t, std::size_t>, std::pair<std::int64_t, std::pair<std::string, std::string>>> pairs;
        for (const auto& [pieces, count] : words)
            for (std::size_t i = 1; i < pieces.size(); ++i) {
                auto& pair = pairs[{ids.at(pieces[i - 1]), ids.at(pieces[i])}];
                pair.first += count;
                pair.second = {pieces[i - 1], pieces[i]};
            }
        const auto best = std::max_element(pairs.begin(), pairs.end(),
                                           [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
        if (best == pairs.end() || best->second.first < 2) break;
        const auto& [left, right] = merges.emplace_back(best->second.second);
        ids.emplace(left + right, ids.size());
        for (auto& [pieces, count] : words)
            for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
                if (pieces[i] == left && pieces[i + 1] == right) {
                    pieces[i] += right;
                    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                }
    }
    return merges;
}

}  // namespace

TEST_CASE("each merge of a trained BPE joins the most frequent pair, and ties go to the smaller ids") {
    RandomSequence random(3, Purpose::document_order, 0);
    WordCounts counts;
    for (int w = 0; w < 200; ++w) {
        std::string word;
        for (std::uint32_t i = 0, size = 1 + random.below(9); i < size; ++i) word += static_cast<char>('a' + random.below(4));
        counts.emplace_back(word, 1 + random.below(5));
    }
    const auto expected = merges_found_plainly(counts, 60);
    REQUIRE(expected.size() == 60);
    CHECK(merges_of(train_byte_pairs(counts, {261 + 60, 2})) == expected);
}

TEST_CASE("a trained BPE is a tokenizer.json with BERT's special tokens, which knows every byte") {
    const TemporaryFolder folder;
    write_text(folder / "tokenizer.json", train_byte_pairs({{" the", 5}, {" cat", 3}}, {264, 2}));
    const auto tokenizer = open_tokenizer(folder / "tokenizer.json", false, std::nullopt);
    const Vocabulary& vocabulary = tokenizer->vocabulary().require_specials();
    CHECK(vocabulary.size() == 264);
    for (std::size_t id = 0; id < 5; ++id) CHECK(vocabulary.token(static_cast<std::int32_t>(id)) == special_tokens[id]);
    std::string text;
    for (const std::int32_t id : tokenizer->encode("the\u00e9 the [MASK]\u65e5\n")) {
        const std::string& token = vocabulary.token(id);
        text += "|" + (id < 5 ? token : bytes_of_token(token).value());
    }
    CHECK(text == "|the|\xC3|\xA9| the|[MASK]|\xE6|\x97|\xA5|\n");
}

TEST_CASE("the mask of a trained BPE takes the one space of the word that it stands for, but no line end and no indentation") {
    const TemporaryFolder folder;
    write_text(folder / "tokenizer.json", train_byte_pairs({{"\n   ", 5}, {" cat", 3}}, {264, 2}));
    const auto tokenizer = open_tokenizer(folder / "tokenizer.json", false, std::nullopt);
    const std::vector<std::int32_t> ids = tokenizer->encode("x\n    [MASK] [MASK]\n[MASK]");
    std::vector<std::int32_t> expected = tokenizer->encode("x\n   ");  // as in "x\n    cat", where " cat" is one word
    const std::int32_t mask_id = tokenizer->vocabulary().specials().mask, line_end = tokenizer->encode("\n").front();
    expected.insert(expected.end(), {mask_id, mask_id, line_end, mask_id});
    CHECK(ids == expected);
}

TEST_CASE("words for a BPE keep case, accents and the space before them") {
    const TemporaryFolder folder;
    write_text(folder / "text.txt", "The the\n\n\tThe e\u0301t\u00e9 isn't 42!  \n");
    std::map<std::string, std::int64_t> found;
    for (const auto& [word, count] : count_byte_level_words({folder / "text.txt"}, trained_byte_level(), 2)) found[word] = count;
    CHECK(found == std::map<std::string, std::int64_t>{
                       {" The", 2}, {" the", 1}, {" \u00e9t\u00e9", 1}, {" isn", 1}, {"'t", 1}, {" 42", 1}, {"!", 1}});
}

TEST_CASE("words for a BPE of kept white space are those of whole documents, with line ends and indentation") {
    const TemporaryFolder folder;
    write_text(folder / "text.txt", "if x:\n    y\n\n\tz  \n");
    std::map<std::string, std::int64_t> found;
    for (const auto& [word, count] : count_kept_byte_level_words({folder / "text.txt"}, trained_byte_level(), 2))
        found[word] = count;
    CHECK(found == std::map<std::string, std::int64_t>{
                       {"if", 1}, {" x", 1}, {":", 1}, {"\n   ", 1}, {" y", 1}, {"\n\n", 1}, {"\t", 1}, {"z", 1}, {"  \n", 1}});
}

TEST_CASE("a BPE smaller than the bytes and the special tokens is refused") {
    CHECK_THROWS_AS(train_byte_pairs({}, {260, 2}), ConfigError);
    CHECK_NOTHROW(train_byte_pairs({}, {261, 2}));
}
