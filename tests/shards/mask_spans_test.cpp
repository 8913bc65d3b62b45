// Spans of masked tokens, compared with the rules that DNABERT and SpanBERT publish, as plain loops.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "sample_rows.h"
#include "shards/masking.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Offsets from a drawn token to those that are masked with it, by k: MASK_LIST of DNABERT's run_pretrain.py.
const std::map<std::int64_t, std::vector<std::int32_t>> dnabert_offsets = {
    {3, {-1, 1}}, {4, {-1, 1, 2}}, {5, {-2, -1, 1, 2}}, {6, {-2, -1, 1, 2, 3}}};

/// Returns `[CLS] text [SEP]`.
std::vector<std::int32_t> row_of(std::size_t length, std::int32_t token = 500) {
    std::vector<std::int32_t> tokens(length, token);
    tokens.front() = special_ids.cls;
    tokens.back() = special_ids.sep;
    return tokens;
}

std::vector<std::int32_t> masked_positions(std::vector<std::int32_t> tokens, const MaskingSettings& settings,
                                           std::uint64_t number) {
    StreamRng rng(RandomSequence(11, Purpose::dynamic_masking, number));
    return mask_tokens(tokens, settings, special_ids, vocabulary_size, rng).positions;
}

/// The positions that DNABERT's loop masks around centres drawn in random order, as long as they are at most `wanted`.
std::set<std::int32_t> dnabert_positions(std::int32_t last, std::int64_t k, std::size_t wanted, Rng& rng) {
    std::vector<std::int32_t> centres(static_cast<std::size_t>(last));
    std::iota(centres.begin(), centres.end(), 1);
    rng.choose(centres, centres.size());
    std::set<std::int32_t> masked;
    for (const std::int32_t centre : centres) {
        std::set<std::int32_t> with_centre = masked;
        with_centre.insert(centre);
        for (const std::int32_t offset : dnabert_offsets.at(k))
            if (centre + offset <= last && centre + offset >= 1) with_centre.insert(centre + offset);
        if (with_centre.size() <= wanted) masked = with_centre;
    }
    return masked;
}

}  // namespace

TEST_CASE("with spans of k tokens a drawn token masks its neighbours as in DNABERT, and the share stays what is set") {
    for (const std::int64_t k : {3, 4, 5, 6}) {
        const MaskingSettings settings{.probability = 0.15, .max_predictions = 80, .spans = {k, SpanLengths::fixed}};
        std::size_t found = 0, wanted = 0;
        for (std::uint64_t i = 0; i < 200; ++i) {
            const std::size_t length = 60 + i % 100;
            const std::vector<std::int32_t> positions = masked_positions(row_of(length), settings, i);
            const auto count = static_cast<std::size_t>(prediction_count(static_cast<std::int64_t>(length), settings));
            StreamRng rng(RandomSequence(11, Purpose::dynamic_masking, i));
            const std::set<std::int32_t> expected = dnabert_positions(static_cast<std::int32_t>(length) - 2, k, count, rng);
            CHECK(positions == std::vector<std::int32_t>(expected.begin(), expected.end()));
            found += positions.size();
            wanted += count;
        }
        CHECK(found == wanted);  // a window next to a span fills the rest
    }
}

TEST_CASE("with spans of k tokens no run of masked tokens is shorter than k, except at a text's start and end") {
    const MaskingSettings settings{.probability = 0.15, .max_predictions = 80, .spans = {6, SpanLengths::fixed}};
    for (std::uint64_t i = 0; i < 200; ++i) {
        std::vector<std::int32_t> tokens = row_of(200);
        tokens[90] = special_ids.sep;  // two documents of a packed row
        tokens[91] = special_ids.cls;
        std::vector<bool> is_masked(tokens.size());
        for (const std::int32_t position : masked_positions(tokens, settings, i))
            is_masked[static_cast<std::size_t>(position)] = true;
        for (const std::size_t special : {0U, 90U, 91U, 199U}) CHECK_FALSE(is_masked[special]);
        for (std::size_t begin = 1; begin < tokens.size(); ++begin) {
            if (!is_masked[begin] || is_masked[begin - 1]) continue;
            const auto end = static_cast<std::size_t>(
                std::find(is_masked.begin() + static_cast<std::ptrdiff_t>(begin), is_masked.end(), false) - is_masked.begin());
            const bool at_edge = begin == 1 || begin == 92 || end == 90 || end == 199;
            CHECK((at_edge || end - begin >= 6));
        }
    }
}

TEST_CASE("a row too short for a span masks as many neighbours as its share is") {
    const MaskingSettings settings{.probability = 0.15, .max_predictions = 80, .spans = {6, SpanLengths::fixed}};
    for (std::uint64_t i = 0; i < 50; ++i)
        for (const auto& [length, masked] : {std::pair<std::size_t, std::size_t>{5, 1}, {20, 3}, {31, 5}}) {
            const std::vector<std::int32_t> positions = masked_positions(row_of(length), settings, i);
            REQUIRE(positions.size() == masked);
            CHECK(positions.back() - positions.front() == static_cast<std::int32_t>(masked) - 1);
        }
}

TEST_CASE("geometric spans have SpanBERT's lengths, and exactly the share that is set is masked") {
    constexpr int draws = 4000;
    constexpr std::int64_t longest = 10;
    const MaskingSettings settings{.probability = 0.005, .max_predictions = longest, .spans = {longest, SpanLengths::geometric}};
    MaskUnits units;
    units.positions.resize(2000);
    std::iota(units.positions.begin(), units.positions.end(), 0);
    units.begins.resize(2001);
    std::iota(units.begins.begin(), units.begins.end(), 0);
    units.runs.assign(2000, 0);
    std::array<int, longest + 1> count{};
    for (std::uint64_t i = 0; i < draws; ++i) {
        StreamRng rng(RandomSequence(12, Purpose::dynamic_masking, i));
        const std::vector<std::int32_t> chosen = choose_spans(units, longest, settings.spans, rng);
        REQUIRE(chosen.size() == longest);
        std::size_t length = 1;  // of the first span, which is not cut
        while (length < chosen.size() && chosen[length] == chosen[length - 1] + 1) ++length;
        ++count.at(length);
    }
    // Shares of 4,000 draws have deviations of at most sqrt(0.23 * 0.77 / 4000) = 0.0067; five of them are 0.034. Another 0.006
    // is for first spans that the text's end cuts, or that the next span touches: fewer than 11 of 2,000.
    const double total = 1 - std::pow(0.8, longest);
    for (std::size_t length = 1; length <= longest; ++length) {
        INFO(length);
        CHECK(count.at(length) / double{draws} ==
              Approx(0.2 * std::pow(0.8, static_cast<double>(length) - 1) / total).margin(0.04));
    }
    double mean = 0;
    for (std::size_t length = 1; length <= longest; ++length) mean += static_cast<double>(length) * count.at(length) / draws;
    CHECK(mean ==
          Approx(3.8).margin(0.25));  // "yielding a mean span length of 3.8" (Joshi et al. 2020); five deviations of 0.042
}

TEST_CASE("a row's geometric spans are the prescribed number of tokens in any case, and never special tokens") {
    const MaskingSettings settings{.probability = 0.15, .max_predictions = 80, .spans = {10, SpanLengths::geometric}};
    std::vector<int> count(100);
    for (std::uint64_t i = 0; i < 4000; ++i) {
        const std::vector<std::int32_t> positions = masked_positions(row_of(100), settings, i);
        REQUIRE(positions.size() == 15);
        for (const std::int32_t position : positions) ++count[static_cast<std::size_t>(position)];
    }
    CHECK(count.front() == 0);
    CHECK(count.back() == 0);
    // A position of the middle has 15 of 98 parts: 612, with a deviation below 23. The first has fewer spans that reach it.
    for (std::size_t s = 20; s < 90; ++s) CHECK(count[s] == Approx(4000.0 * 15 / 98).epsilon(0.25));
    CHECK(count[1] < count[50]);
}

TEST_CASE("with whole words and spans, each word is masked or kept as a whole, and no more tokens than prescribed") {
    std::vector<std::uint8_t> continues(vocabulary_size);
    continues[600] = 1;
    for (const SpanLengths lengths : {SpanLengths::fixed, SpanLengths::geometric}) {
        const MaskingSettings settings{
            .probability = 0.15, .max_predictions = 80, .continues_word = continues, .spans = {3, lengths}};
        std::size_t found = 0, wanted = 0;
        for (std::uint64_t i = 0; i < 300; ++i) {
            std::vector<std::int32_t> tokens = row_of(128, 100);
            for (std::size_t s = 2; s + 1 < tokens.size(); ++s)
                if ((s * s + i) % 3 == 0) tokens[s] = 600;
            std::vector<bool> is_masked(tokens.size());
            const std::vector<std::int32_t> positions = masked_positions(tokens, settings, i);
            for (const std::int32_t position : positions) is_masked[static_cast<std::size_t>(position)] = true;
            for (std::size_t s = 1; s < tokens.size(); ++s)
                if (tokens[s] == 600) REQUIRE(is_masked[s] == is_masked[s - 1]);
            REQUIRE(positions.size() <= 19);
            found += positions.size();
            wanted += 19;
        }
        CHECK(found > wanted * 97 / 100);
    }
}
