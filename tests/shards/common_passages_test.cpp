// The passages that rows have in common, compared with what is known of their documents, and with a plain count.

#include <algorithm>
#include <numeric>
#include <set>

#include "sample_rows.h"
#include "shards/check/common_passages.h"
#include "shards/dynamic_masking.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t passes = 3;  // made_up_rules()

ShardRows rows_of(const std::vector<Sentences>& documents) {
    const SampleGroup group(documents_of(documents), made_up_rules(128, 20), 0, 1);
    ShardRows rows = group.rows(0, group.size());
    restore_text(rows);
    return rows;
}

CommonPassages compare(const ShardRows& training, const ShardRows& held_out) {
    PassageSample sample;
    sample.add(ShardKind::training, training);
    sample.add(ShardKind::held_out, held_out);
    sample.seal();
    sample.count(ShardKind::training, training);
    sample.count(ShardKind::held_out, held_out);
    return sample.result(passes);
}

double share(std::int64_t part, std::int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

std::vector<Sentences> joined(std::vector<Sentences> a, const std::vector<Sentences>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// The passages of a row's segments, by a plain loop.
std::set<std::vector<std::int32_t>> passages_of(const ShardRows& rows, std::int64_t row) {
    std::set<std::vector<std::int32_t>> passages;
    const auto begin = rows.input_ids_RS.begin() + row * rows.sequence_length;
    for (std::int64_t first = 0; first + 13 <= rows.sequence_length; ++first) {
        const std::vector<std::int32_t> passage(begin + first, begin + first + 13);
        if (*std::min_element(passage.begin(), passage.end()) >= 5) passages.insert(passage);  // no special token or padding
    }
    return passages;
}

}  // namespace

TEST_CASE("held-out rows share passages with training rows only if their documents do") {
    const std::vector<Sentences> texts = made_up_documents(200, 3), others = made_up_documents(200, 4);
    const CommonPassages leaked = compare(rows_of(texts), rows_of(texts));
    CHECK(leaked.held_out_rows > 100);
    CHECK(share(leaked.mostly_trained, leaked.held_out_rows) > 0.99);
    const CommonPassages clean = compare(rows_of(texts), rows_of(others));
    CHECK(clean.with_a_trained == 0);
    CHECK(clean.mostly_trained == 0);
}

TEST_CASE("a common sentence counts as one common passage, not as most of a row") {
    std::vector<Sentences> texts = made_up_documents(100, 3), others = made_up_documents(100, 4);
    std::vector<std::int32_t> sentence(15);
    std::iota(sentence.begin(), sentence.end(), 100);
    for (std::vector<Sentences>* side : {&texts, &others})
        for (Sentences& document : *side) { document.push_back(sentence); }
    const CommonPassages found = compare(rows_of(texts), rows_of(others));
    CHECK(share(found.with_a_trained, found.held_out_rows) > 0.5);
    CHECK(share(found.mostly_trained, found.held_out_rows) < 0.1);
}

TEST_CASE("the counts equal those of a plain loop") {
    const ShardRows training = rows_of(made_up_documents(40, 3));
    const ShardRows held_out = rows_of(joined(made_up_documents(10, 3), made_up_documents(30, 5)));
    std::set<std::vector<std::int32_t>> trained;
    for (std::int64_t r = 0; r < training.rows; ++r) trained.merge(passages_of(training, r));
    CommonPassages expected;
    for (std::int64_t r = 0; r < held_out.rows; ++r) {
        const auto passages = passages_of(held_out, r);
        const auto common =
            std::count_if(passages.begin(), passages.end(), [&](const auto& one) { return trained.contains(one); });
        expected.held_out_rows += passages.empty() ? 0 : 1;
        expected.with_a_trained += common > 0 ? 1 : 0;
        expected.mostly_trained += 2 * common > static_cast<std::int64_t>(passages.size()) ? 1 : 0;
    }
    const CommonPassages found = compare(training, held_out);
    CHECK(found.held_out_rows == expected.held_out_rows);
    CHECK(found.with_a_trained == expected.with_a_trained);
    CHECK(found.mostly_trained == expected.mostly_trained);
    CHECK(expected.mostly_trained > 5);
    CHECK(expected.mostly_trained < expected.held_out_rows / 2);
}

TEST_CASE("documents that a corpus contains twice are reported, those that the duplicate factor repeats are not") {
    const std::vector<Sentences> texts = made_up_documents(300, 3);
    const auto repeated = [&](const std::vector<Sentences>& documents) {
        const CommonPassages found = compare(rows_of(documents), {});
        return share(found.mostly_repeated, found.rows);
    };
    CHECK(repeated(texts) == 0);
    CHECK(repeated(joined(texts, texts)) > 0.95);
    CHECK(repeated(joined(texts, std::vector<Sentences>(texts.begin(), texts.begin() + 100))) ==
          Approx(0.5).margin(0.12));  // 200 of 400 documents
}

TEST_CASE("without a duplicate factor repeated documents are not looked for") {
    PassageSample sample;
    sample.add(ShardKind::training, rows_of(made_up_documents(10, 3)));
    sample.seal();
    CHECK(sample.result(std::nullopt).rows == 0);
}
