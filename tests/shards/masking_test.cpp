#include "shards/masking.h"

#include <algorithm>
#include <map>

#include "sample_rows.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::vector<std::int32_t> plain_sequence(std::size_t length) {
    std::vector<std::int32_t> tokens(length, 500);
    tokens.front() = special_ids.cls;
    tokens[length / 2] = special_ids.sep;
    tokens.back() = special_ids.sep;
    return tokens;
}

}  // namespace

TEST_CASE("the number of predictions rounds halves to even, like Python's round") {
    const std::map<std::int64_t, std::int64_t> python = {{5, 1},   {10, 2},  {16, 2},   {17, 3},   {30, 4},   {50, 8},
                                                         {70, 10}, {90, 14}, {110, 16}, {128, 19}, {130, 20}, {512, 20}};
    for (const auto& [length, count] : python) {
        INFO(length);
        CHECK(prediction_count(length, {0.15, 20}) == count);
    }
    CHECK(prediction_count(512, {0.15, 80}) == 77);
    CHECK(prediction_count(3, {0.0, 20}) == 1);
}

TEST_CASE("masked positions ascend and exclude [CLS] and [SEP], and labels restore the text") {
    for (std::uint64_t i = 0; i < 500; ++i) {
        RandomSequence random(i, Purpose::document_order, 0);
        std::vector<std::int32_t> original = plain_sequence(5 + random.below(124));
        for (std::int32_t& token : original)
            if (token == 500) token = static_cast<std::int32_t>(5 + random.below(900));
        std::vector<std::int32_t> tokens = original;
        StreamRng rng(RandomSequence(1, Purpose::masking, i));
        const MaskedTokens masked = mask_tokens(tokens, {0.15, 20}, special_ids, vocabulary_size, rng);
        REQUIRE(static_cast<std::int64_t>(masked.positions.size()) ==
                prediction_count(static_cast<std::int64_t>(tokens.size()), {0.15, 20}));
        REQUIRE(masked.labels.size() == masked.positions.size());
        REQUIRE(std::is_sorted(masked.positions.begin(), masked.positions.end()));
        REQUIRE(std::adjacent_find(masked.positions.begin(), masked.positions.end()) == masked.positions.end());
        for (std::size_t p = 0; p < masked.positions.size(); ++p) {
            const auto position = static_cast<std::size_t>(masked.positions[p]);
            REQUIRE(original[position] != special_ids.cls);
            REQUIRE(original[position] != special_ids.sep);
            tokens[position] = masked.labels[p];
        }
        REQUIRE(tokens == original);
    }
}

TEST_CASE("of the masked tokens 80 % become [MASK], 10 % stay unchanged, and 10 % become a random token") {
    std::int64_t total = 0, mask = 0, same = 0;
    std::map<std::int32_t, std::int64_t> others;
    for (std::uint64_t i = 0; i < 4000; ++i) {
        std::vector<std::int32_t> tokens = plain_sequence(128);
        StreamRng rng(RandomSequence(2, Purpose::masking, i));
        for (const std::int32_t position : mask_tokens(tokens, {0.15, 20}, special_ids, vocabulary_size, rng).positions) {
            const std::int32_t token = tokens[static_cast<std::size_t>(position)];
            ++total;
            if (token == special_ids.mask) ++mask;
            else if (token == 500) ++same;
            else ++others[token];
        }
    }
    const double count = static_cast<double>(total);
    CHECK(total == 4000 * 19);
    // Seeds are fixed and integers are drawn, so the counts are the same on every machine. Over 76,000 draws the shares have
    // deviations of 0.0015 and 0.0011: the bounds are four of them. About 7,600 draws of 1000 tokens leave out 0.5 on average.
    CHECK(static_cast<double>(mask) / count == Approx(0.8001).margin(0.006));
    CHECK(static_cast<double>(same) / count == Approx(0.1001).margin(0.005));
    CHECK(others.size() > 990);  // every token of the vocabulary can be drawn, including special ones
    CHECK(others.begin()->first == 0);
}

TEST_CASE("each position is masked about equally often") {
    std::vector<int> count(64);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        std::vector<std::int32_t> tokens = plain_sequence(64);
        StreamRng rng(RandomSequence(3, Purpose::masking, i));
        for (const std::int32_t position : mask_tokens(tokens, {0.15, 20}, special_ids, vocabulary_size, rng).positions)
            ++count[static_cast<std::size_t>(position)];
    }
    const double expected = 20'000.0 * 10 / 61;  // 3279, with a deviation of 52; the bound is five of them
    for (std::size_t s = 1; s < 63; ++s)
        if (s != 32) CHECK(count[s] == Approx(expected).epsilon(0.08));
}

TEST_CASE("with special_tokens each position of a sequence is masked about equally often, [CLS] and [SEP] too") {
    std::vector<int> count(64);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        std::vector<std::int32_t> tokens = plain_sequence(64);
        const std::vector<std::int32_t> original = tokens;
        StreamRng rng(RandomSequence(3, Purpose::masking, i));
        const MaskingSettings settings{.probability = 0.3, .max_predictions = 64, .special_tokens = true};
        const MaskedTokens masked = mask_tokens(tokens, settings, special_ids, vocabulary_size, rng);
        REQUIRE(masked.positions.size() == 19);
        for (std::size_t p = 0; p < masked.positions.size(); ++p) {
            const auto position = static_cast<std::size_t>(masked.positions[p]);
            ++count[position];
            REQUIRE(masked.labels[p] == original[position]);
        }
    }
    const double expected = 20'000.0 * 19 / 64;  // 5938, with a deviation of 65; the bound is five of them
    for (std::size_t s = 0; s < 64; ++s) CHECK(count[s] == Approx(expected).epsilon(0.055));
}

TEST_CASE("a sequence with fewer candidates than wanted predictions masks them all") {
    std::vector<std::int32_t> tokens = plain_sequence(5);
    StreamRng rng(RandomSequence(3, Purpose::masking, 0));
    CHECK(mask_tokens(tokens, {1.0, 20}, special_ids, vocabulary_size, rng).positions == std::vector<std::int32_t>{1, 3});
}

TEST_CASE("whole words are masked or kept, and never more tokens than requested") {
    // ids from 500 on continue a word; words of one to four pieces
    std::vector<std::uint8_t> continues(vocabulary_size);
    std::fill(continues.begin() + 500, continues.end(), std::uint8_t{1});
    const MaskingSettings settings{0.15, 20, continues};
    std::int64_t masked_tokens = 0, wanted_tokens = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
        RandomSequence random(i, Purpose::document_order, 1);
        std::vector<std::int32_t> original = plain_sequence(40 + random.below(89));
        for (std::size_t s = 1, piece = 0; s < original.size(); ++s) {
            if (original[s] == special_ids.sep) piece = 0;
            else if (piece == 0) original[s] = 100, piece = random.below(4);
            else original[s] = 600, --piece;
        }
        std::vector<std::int32_t> tokens = original;
        StreamRng rng(RandomSequence(4, Purpose::masking, i));
        const MaskedTokens masked = mask_tokens(tokens, settings, special_ids, vocabulary_size, rng);
        std::vector<bool> is_masked(original.size());
        for (const std::int32_t position : masked.positions) is_masked[static_cast<std::size_t>(position)] = true;
        for (std::size_t s = 1; s < original.size(); ++s)
            if (original[s] == 600) REQUIRE(is_masked[s] == is_masked[s - 1]);
        const std::int64_t wanted = prediction_count(static_cast<std::int64_t>(original.size()), settings);
        REQUIRE(static_cast<std::int64_t>(masked.positions.size()) <= wanted);
        masked_tokens += static_cast<std::int64_t>(masked.positions.size());
        wanted_tokens += wanted;
    }
    CHECK(masked_tokens > wanted_tokens * 95 / 100);
}

TEST_CASE("a word ends where the next document of a packed row begins") {
    std::vector<std::uint8_t> continues(vocabulary_size);
    continues[600] = 1;
    const MaskingSettings settings{0.15, 20, continues};
    for (std::uint64_t i = 0; i < 20; ++i) {
        std::vector<std::int32_t> tokens{special_ids.cls, 100, special_ids.sep, special_ids.cls, 600, special_ids.sep};
        StreamRng rng(RandomSequence(5, Purpose::masking, i));
        CHECK(mask_tokens(tokens, settings, special_ids, vocabulary_size, rng).positions.size() == 1);  // one of two words
    }
}
