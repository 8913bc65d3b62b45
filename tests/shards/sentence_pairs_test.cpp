#include "shards/sentence_pairs.h"

#include <algorithm>
#include <map>

#include "sample_rows.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Documents whose tokens are all different, so that a token tells where it is from: document d holds 100,000 d + 5, + 6, ...
std::vector<Document> numbered_documents(std::size_t count) {
    std::vector<Document> documents = made_up_documents(count, 11);
    for (std::size_t d = 0; d < count; ++d) {
        std::int32_t next = static_cast<std::int32_t>(100'000 * d + 5);
        for (Sentence& sentence : documents[d])
            for (std::int32_t& token : sentence) token = next++;
    }
    return documents;
}

std::vector<SentencePair> pairs_of(const std::vector<Document>& documents, std::size_t document, std::int64_t sequence_length,
                                   double short_probability = 0.1, std::uint32_t duplicate = 0) {
    std::vector<SentencePair> pairs;
    StreamDice dice(RandomSequence(5, Purpose::sentence_pairs, document, duplicate));
    build_pairs(documents, document, {sequence_length, short_probability}, special_ids, dice,
                [&](SentencePair pair) { pairs.push_back(std::move(pair)); });
    return pairs;
}

bool consecutive(std::span<const std::int32_t> tokens) {
    for (std::size_t i = 1; i < tokens.size(); ++i)
        if (tokens[i] != tokens[i - 1] + 1) return false;
    return !tokens.empty();
}

}  // namespace

TEST_CASE("a pair is [CLS] A [SEP] B [SEP] of running text within the length, and its label tells whether B follows A") {
    const std::vector<Document> documents = numbered_documents(60);
    std::map<bool, int> count;
    for (std::size_t d = 0; d < documents.size(); ++d) {
        for (std::uint32_t duplicate = 0; duplicate < 5; ++duplicate) {
            for (const SentencePair& pair : pairs_of(documents, d, 64, 0.1, duplicate)) {
                const std::span<const std::int32_t> tokens(pair.tokens);
                const auto first_segment = static_cast<std::size_t>(pair.first_segment);
                REQUIRE(tokens.size() <= 64);
                REQUIRE(tokens.front() == special_ids.cls);
                REQUIRE(tokens[first_segment - 1] == special_ids.sep);
                REQUIRE(tokens.back() == special_ids.sep);
                const auto a = tokens.subspan(1, first_segment - 2),
                           b = tokens.subspan(first_segment, tokens.size() - first_segment - 1);
                REQUIRE(consecutive(a));
                REQUIRE(consecutive(b));
                REQUIRE(static_cast<std::size_t>(a[0] / 100'000) == d);
                REQUIRE((static_cast<std::size_t>(b[0] / 100'000) != d) == pair.is_random_next);
                if (!pair.is_random_next) REQUIRE(b[0] > a.back());
                ++count[pair.is_random_next];
            }
        }
    }
    // More than half: a document's last sentence, left alone, always gets a random next one.
    const double random_share = static_cast<double>(count[true]) / (count[true] + count[false]);
    CHECK(random_share > 0.5);
    CHECK(random_share < 0.8);
}

TEST_CASE("every sentence of a document is used as the beginning or the true continuation of some pair") {
    std::vector<Document> documents = numbered_documents(40);
    for (Document& document : documents)
        for (Sentence& sentence : document) sentence.resize(1);  // nothing is cut off
    for (std::size_t d = 0; d < documents.size(); ++d) {
        std::vector<std::int32_t> used;
        for (const SentencePair& pair : pairs_of(documents, d, 8, 0))
            for (const std::int32_t token : pair.tokens)
                if (token >= 5 && static_cast<std::size_t>(token / 100'000) == d) used.push_back(token);
        std::vector<std::int32_t> all;
        for (const Sentence& sentence : documents[d]) all.push_back(sentence[0]);
        CHECK(used == all);
    }
}

TEST_CASE("a lone document's pairs count as consecutive, since no other document can follow") {
    const std::vector<Document> documents = numbered_documents(1);
    for (std::uint32_t duplicate = 0; duplicate < 20; ++duplicate)
        for (const SentencePair& pair : pairs_of(documents, 0, 32, 0.1, duplicate)) CHECK_FALSE(pair.is_random_next);
}

TEST_CASE("documents aim at short sequences as often as they are told to") {
    // One-token sentences, so that lengths hit their target exactly; a long other document, so that its end is rarely met.
    const std::vector<Document> documents{Document(400, Sentence{7}), Document(50'000, Sentence{7})};
    const auto full_share = [&](double probability) {
        int full = 0;
        for (std::uint32_t duplicate = 0; duplicate < 400; ++duplicate)
            full += pairs_of(documents, 0, 128, probability, duplicate).front().tokens.size() == 128 ? 1 : 0;
        return full / 400.0;
    };
    CHECK(full_share(0) > 0.99);
    CHECK(full_share(0.5) == Approx(0.5).margin(0.08));
    CHECK(full_share(1) < 0.05);
}

TEST_CASE("a sentence longer than a sequence is cut down to it") {
    Sentence long_sentence(5000);
    for (std::size_t i = 0; i < long_sentence.size(); ++i) long_sentence[i] = static_cast<std::int32_t>(i + 10);
    const std::vector<Document> documents{{long_sentence}, {long_sentence}};
    const std::vector<SentencePair> pairs = pairs_of(documents, 0, 128);
    REQUIRE(pairs.size() == 1);
    CHECK(pairs[0].tokens.size() == 128);
    CHECK(pairs[0].tokens[1] > 1000);  // about half of the cuts are at the front
    CHECK(pairs[0].tokens[1] < 4000);
}
