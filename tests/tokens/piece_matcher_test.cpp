#include "tokens/models/piece_matcher.h"

#include <algorithm>

#include "core/random.h"
#include "plain_matcher.h"
#include "support/catch.h"
#include "tokenizer_support.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Ids = std::vector<std::int32_t>;

namespace {

/// Letters of one to four UTF-8 bytes, two of which share a prefix.
const std::vector<std::string> letters{"a", "b", "\xC3\xA9", "\xC3\xA8", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"};

std::string random_word(RandomSequence& random, std::uint32_t different_letters, std::uint32_t longest) {
    std::string word;
    for (std::uint32_t size = 1 + random.below(longest); size > 0; --size) word += letters[random.below(different_letters)];
    return word;
}

}  // namespace

TEST_CASE("words are split as a plain search for the longest piece splits them, for any vocabulary") {
    RandomSequence random(1, Purpose::masking, 0);
    std::size_t known = 0, unknown = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const std::uint32_t different_letters = 1 + random.below(static_cast<std::uint32_t>(letters.size()));
        std::vector<std::string> pieces;
        for (std::uint32_t count = random.below(40); count > 0; --count)
            pieces.push_back((random.below(3) == 0 ? "" : "##") + random_word(random, different_letters, 6));
        std::ranges::sort(pieces);
        pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
        const auto vocabulary = small_vocabulary(pieces);
        const std::size_t longest_word = 1 + random.below(12);
        const PieceMatcher matcher(*vocabulary, longest_word);
        for (int i = 0; i < 50; ++i) {
            const std::string word = random_word(random, different_letters, 14);
            Ids ids{-7};
            matcher.match(word, ids);
            Ids expected = plain_match(*vocabulary, longest_word, word);
            (expected == Ids{vocabulary->specials().unk} ? unknown : known) += 1;
            expected.insert(expected.begin(), -7);  // match() appends
            INFO("trial " << trial << ", word " << word);
            REQUIRE(ids == expected);
        }
    }
    CHECK(known > 1000);
    CHECK(unknown > 3000);
}

TEST_CASE("a piece that is not UTF-8 never matches, and a vocabulary without continuing pieces matches whole words") {
    const auto vocabulary = small_vocabulary({"\xC3", "##\xA9", "b", "##"});
    const PieceMatcher matcher(*vocabulary, 100);
    const auto match = [&](std::string_view word) {
        Ids ids;
        matcher.match(word, ids);
        return ids;
    };
    CHECK(match("\xC3\xA9") == Ids{vocabulary->specials().unk});
    CHECK(match("b") == Ids{*vocabulary->find("b")});
    CHECK(match("bb") == Ids{vocabulary->specials().unk});
    CHECK(match("##") == Ids{*vocabulary->find("##")});
}
