#include "shards/build/sentence_pairs.h"

#include <algorithm>
#include <map>

#include "sample_rows.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Returns documents of distinct tokens, so that a token identifies its document: document d has 100,000 d + 5, + 6, ...
std::vector<Sentences> numbered_documents(std::size_t count) {
    std::vector<Sentences> documents = made_up_documents(count, 11);
    for (std::size_t d = 0; d < count; ++d) {
        std::int32_t next = static_cast<std::int32_t>(100'000 * d + 5);
        for (auto& sentence : documents[d])
            for (std::int32_t& token : sentence) token = next++;
    }
    return documents;
}

/// A pair with its tokens.
struct SpelledPair {
    std::vector<std::int32_t> a, b;
    bool is_random_next;

    std::size_t length() const { return a.size() + b.size() + 3; }
};

std::vector<SpelledPair> pairs_of(const std::vector<Sentences>& lists, std::size_t document, const PairSettings& settings,
                                  std::uint32_t duplicate = 0) {
    const Documents documents = documents_of(lists);
    std::vector<SpelledPair> pairs;
    StreamRng rng(RandomSequence(5, Purpose::sentence_pairs, document, duplicate));
    build_pairs(documents, document, settings, rng, [&](const SentencePair& pair) {
        const auto spelled = [&](std::size_t begin, std::size_t size) {
            const auto tokens = documents.tokens(begin, size);
            return std::vector(tokens.begin(), tokens.end());
        };
        pairs.push_back({spelled(pair.a_begin, pair.a_size), spelled(pair.b_begin, pair.b_size), pair.is_random_next});
    });
    return pairs;
}

bool consecutive(std::span<const std::int32_t> tokens) {
    for (std::size_t i = 1; i < tokens.size(); ++i)
        if (tokens[i] != tokens[i - 1] + 1) return false;
    return !tokens.empty();
}

}  // namespace

TEST_CASE("both segments of a pair are consecutive text within the length, and the label is whether B follows A") {
    const std::vector<Sentences> documents = numbered_documents(60);
    std::map<bool, int> count;
    for (std::size_t d = 0; d < documents.size(); ++d) {
        for (std::uint32_t duplicate = 0; duplicate < 5; ++duplicate) {
            for (const SpelledPair& pair : pairs_of(documents, d, {64, 0.1}, duplicate)) {
                REQUIRE(pair.length() <= 64);
                REQUIRE(consecutive(pair.a));
                REQUIRE(consecutive(pair.b));
                REQUIRE(static_cast<std::size_t>(pair.a[0] / 100'000) == d);
                REQUIRE((static_cast<std::size_t>(pair.b[0] / 100'000) != d) == pair.is_random_next);
                if (!pair.is_random_next) REQUIRE(pair.b[0] > pair.a.back());
                ++count[pair.is_random_next];
            }
        }
    }
    // More than half, because a document's last sentence, if left alone, always gets a random next segment.
    const double random_share = static_cast<double>(count[true]) / (count[true] + count[false]);
    CHECK(random_share > 0.5);
    CHECK(random_share < 0.8);
}

TEST_CASE("every sentence of a document is used in a first segment or in its actual continuation") {
    std::vector<Sentences> documents = numbered_documents(40);
    for (Sentences& document : documents)
        for (auto& sentence : document) sentence.resize(1);  // so nothing is truncated
    for (std::size_t d = 0; d < documents.size(); ++d) {
        std::vector<std::int32_t> used;
        for (const SpelledPair& pair : pairs_of(documents, d, {8, 0}))
            for (const auto* part : {&pair.a, &pair.b})
                for (const std::int32_t token : *part)
                    if (static_cast<std::size_t>(token / 100'000) == d) used.push_back(token);
        std::vector<std::int32_t> all;
        for (const auto& sentence : documents[d]) all.push_back(sentence[0]);
        CHECK(used == all);
    }
}

TEST_CASE("pairs of a single document are labeled as consecutive, except by Google's rule") {
    const std::vector<Sentences> documents = numbered_documents(1);
    bool google_says_random = false;
    for (std::uint32_t duplicate = 0; duplicate < 20; ++duplicate) {
        for (const SpelledPair& pair : pairs_of(documents, 0, {32, 0.1}, duplicate)) CHECK_FALSE(pair.is_random_next);
        for (const SpelledPair& pair : pairs_of(documents, 0, {32, 0.1, true}, duplicate))
            google_says_random = google_says_random || pair.is_random_next;
    }
    CHECK(google_says_random);
}

TEST_CASE("documents get a short target length as often as the probability requires") {
    // One-token sentences, so that lengths equal their target; a long other document, so that its end is rarely reached.
    const std::vector<Sentences> documents{Sentences(400, {7}), Sentences(50'000, {7})};
    const auto full_share = [&](double probability) {
        int full = 0;
        for (std::uint32_t duplicate = 0; duplicate < 100; ++duplicate)
            full += pairs_of(documents, 0, {128, probability}, duplicate).front().length() == 128 ? 1 : 0;
        return full / 100.0;
    };
    CHECK(full_share(0) > 0.99);
    CHECK(full_share(0.5) == Approx(0.5).margin(0.16));  // 100 fixed draws: three deviations of 0.05
    CHECK(full_share(1) < 0.1);
}

TEST_CASE("a sentence longer than a sequence is truncated to it") {
    std::vector<std::int32_t> long_sentence(5000);
    for (std::size_t i = 0; i < long_sentence.size(); ++i) long_sentence[i] = static_cast<std::int32_t>(i + 10);
    const std::vector<SpelledPair> pairs = pairs_of({{long_sentence}, {long_sentence}}, 0, {128, 0.1});
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].length() == 128);
    CHECK(pairs[0].a[0] > 1000);  // about half of the removed tokens are at the front
    CHECK(pairs[0].a[0] < 4000);
}
