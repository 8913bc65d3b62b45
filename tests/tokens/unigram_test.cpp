// Unigram and its steps on small definitions. tests/system compares ids with the tokenizers library.

#include <functional>
#include <limits>

#include "core/random.h"
#include "definition_support.h"
#include "support/catch.h"
#include "tokens/unicode/graphemes.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;
using Pieces = std::vector<std::string>;
using Scores = std::vector<std::pair<std::string, double>>;

namespace {

/// Returns the largest sum of scores of all divisions of a text into tokens, where an unknown letter scores `unknown`.
double best_score(const Scores& tokens, const std::string& text, double unknown) {
    if (text.empty()) return 0.0;
    double best = -std::numeric_limits<double>::infinity();
    bool knows_letter = false;
    for (const auto& [token, score] : tokens)
        if (text.starts_with(token)) {
            best = std::max(best, score + best_score(tokens, text.substr(token.size()), unknown));
            knows_letter = knows_letter || token.size() == 1;
        }
    return knows_letter ? best : std::max(best, unknown + best_score(tokens, text.substr(1), unknown));
}

json without_steps(const Scores& pieces) {
    json definition = unigram_definition(pieces);
    definition["pre_tokenizer"] = nullptr;
    return definition;
}

}  // namespace

TEST_CASE("Unigram finds the division with the largest sum of scores, as a search of all divisions does") {
    RandomSequence random(7, Purpose::masking, 0);
    for (int trial = 0; trial < 200; ++trial) {
        Scores tokens{{"<unk>", -2.0}};
        double lowest = -2.0;
        for (int i = 0; i < 12; ++i) {
            std::string token;
            for (std::uint32_t size = 1 + random.below(4); size > 0; --size) token += static_cast<char>('a' + random.below(3));
            if (std::ranges::any_of(tokens, [&](const auto& one) { return one.first == token; })) continue;
            tokens.emplace_back(token, -random.uniform() * 5);
            lowest = std::min(lowest, tokens.back().second);
        }
        std::string text;
        for (std::uint32_t size = 1 + random.below(12); size > 0; --size) text += static_cast<char>('a' + random.below(3));
        const auto tokenizer = tokenizer_of(without_steps(tokens));
        // Unknown letters are fused, so every letter that the tokens do not cover counts.
        double sum = 0.0;
        std::size_t covered = 0;
        for (const std::int32_t id : tokenizer->encode(text)) {
            if (id == 0) continue;
            sum += tokens[static_cast<std::size_t>(id)].second;
            covered += tokens[static_cast<std::size_t>(id)].first.size();
        }
        sum += static_cast<double>(text.size() - covered) * (lowest - 10.0);
        INFO(text);
        CHECK(sum == Approx(best_score(tokens, text, lowest - 10.0)));
    }
}

TEST_CASE(
    "of divisions with equal sums, Unigram takes the one whose last token is longer, and unknown letters become one token") {
    const json definition = without_steps({{"<unk>", 0.0}, {"a", -1.0}, {"aa", -2.0}, {"aaa", -3.0}, {"xz", -1.0}});
    CHECK(pieces_of(definition, "aaa") == Pieces{"aaa"});
    CHECK(pieces_of(definition, "aaaa") == Pieces{"a", "aaa"});
    CHECK(pieces_of(definition, "axyéa日") == Pieces{"a", "<unk>", "a", "<unk>"});
    CHECK(pieces_of(definition, "xzx") == Pieces{"xz", "<unk>"});
    CHECK(pieces_of(definition, "").empty());
}

TEST_CASE("with byte_fallback, unknown letters are spelled by the tokens of their bytes where all of them are tokens") {
    json definition = without_steps({{"<unk>", 0.0}, {"a", -1.0}, {"<0xC3>", 0.0}, {"<0xA9>", 0.0}});
    CHECK(pieces_of(definition, "aé") == Pieces{"a", "<unk>"});
    definition["model"]["byte_fallback"] = true;
    CHECK(pieces_of(definition, "aé") == Pieces{"a", "<0xC3>", "<0xA9>"});
    CHECK(pieces_of(definition, "aéè") == Pieces{"a", "<unk>"});
}

TEST_CASE("Metaspace spells spaces as its sign, puts one before each text or the first, and words begin at signs") {
    json definition = unigram_definition({{"<unk>", 0.0}, {"▁", -1.0}, {"a", -1.0}, {"▁a", -1.5}, {"a▁a", -0.1}});
    definition["added_tokens"] = {added_token("<m>", 5)};
    const auto with_scheme = [&](const char* scheme, const std::string& text) {
        definition["pre_tokenizer"]["prepend_scheme"] = scheme;
        return pieces_of(definition, text);
    };
    CHECK(with_scheme("always", "a a  a") == Pieces{"▁a", "▁a", "▁", "▁a"});
    CHECK(with_scheme("always", " a") == Pieces{"▁a"});
    CHECK(with_scheme("always", "▁a▁a") == Pieces{"▁a", "▁a"});
    CHECK(with_scheme("always", "a<m>a") == Pieces{"▁a", "<m>", "▁a"});
    CHECK(with_scheme("first", "a<m>a") == Pieces{"▁a", "<m>", "a"});
    CHECK(with_scheme("first", "<m>a") == Pieces{"<m>", "a"});
    CHECK(with_scheme("never", "a a") == Pieces{"a", "▁a"});
    definition["pre_tokenizer"]["split"] = false;
    CHECK(with_scheme("never", "a a") == Pieces{"a▁a"});
    definition["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"}, {"add_prefix_space", true}, {"str_rep", "▁"}};
    CHECK(pieces_of(definition, "a") == Pieces{"▁a"});
    definition["pre_tokenizer"]["add_prefix_space"] = false;
    CHECK(pieces_of(definition, "a") == Pieces{"a"});
    definition["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "WhitespaceSplit"}}, {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}}}}};
    CHECK(pieces_of(definition, "a \t a") == Pieces{"▁a", "a"});
    CHECK(pieces_of(definition, " a") == Pieces{"a"});
}

TEST_CASE(
    "with Unigram a token continues a word unless it begins with Metaspace's sign or is added, and spaces count as needed") {
    json definition = unigram_definition({{"<unk>", 0.0}, {"_a", -1.0}, {"b", -1.0}, {"▁c", -1.0}});
    definition["pre_tokenizer"]["replacement"] = "_";
    definition["added_tokens"] = {added_token("<mask>", 4)};
    const auto tokenizer = tokenizer_of(definition);
    const Vocabulary& vocabulary = tokenizer->vocabulary();
    CHECK(vocabulary.marks_word_starts());
    CHECK_FALSE(vocabulary.is_byte_level());
    CHECK_FALSE(vocabulary.continues_word(1));
    CHECK(vocabulary.continues_word(2));
    CHECK(vocabulary.continues_word(3));
    CHECK_FALSE(vocabulary.continues_word(4));
    CHECK(vocabulary.specials().unk == 0);
    CHECK(vocabulary.specials().mask == 4);
    CHECK(vocabulary.replacements() == std::vector<std::int32_t>{1, 2, 3});
    CHECK_FALSE(tokenizer->keeps_spaces());
    definition["pre_tokenizer"]["prepend_scheme"] = "never";
    CHECK(tokenizer_of(definition)->keeps_spaces());
}

TEST_CASE("Strip removes white space at the ends, and Replace replaces the matches of a regular expression") {
    json definition = without_steps({{"<unk>", 0.0}, {"a", -1.0}, {" ", -1.0}, {"_", -1.0}});
    definition["normalizer"] = {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}};
    CHECK(pieces_of(definition, " a \xE2\x80\x83\n") == Pieces{" ", "a"});
    CHECK(pieces_of(definition, " \n").empty());
    definition["normalizer"]["strip_left"] = true;
    CHECK(pieces_of(definition, " a a ") == Pieces{"a", " ", "a"});
    definition["normalizer"] = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "_"}};
    CHECK(pieces_of(definition, " a   a  ") == Pieces{" ", "a", "_", "a", "_"});
}

TEST_CASE("grapheme clusters end as in Unicode 17") {
    const auto first = [](const std::string& text) { return text.substr(0, grapheme_end(text, 0)); };
    CHECK(first("ab") == "a");
    CHECK(first("e\u0301\u0302x") == "e\u0301\u0302");
    CHECK(first("\r\nx") == "\r\n");
    CHECK(first("\n\u0301") == "\n");
    CHECK(first("\u0600a") == "\u0600a");
    CHECK(first("a\u0897x") == "a\u0897");        // a mark since Unicode 16
    CHECK(first("a\u1ACFx") == "a\u1ACF");        // since Unicode 17
    CHECK(first("\U00011A3Aa") == "\U00011A3A");  // joined its successor until Unicode 15
}
