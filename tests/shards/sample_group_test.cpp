#include "shards/build/sample_group.h"

#include <set>

#include "sample_rows.h"
#include "shards/check/row_check.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::vector<std::int32_t> positions_of(const ShardRows& rows, std::int64_t row) {
    const auto begin = rows.masked_lm_positions_RP.begin() + row * rows.max_predictions;
    return {begin, begin + rows.max_predictions};
}

}  // namespace

TEST_CASE("each duplicate of a document gets its own segments and masks") {
    // Two sentences that fill a sequence: every pair has the same text, so only the masks can differ.
    const Sentences document{std::vector<std::int32_t>(30, 50), std::vector<std::int32_t>(31, 60)};
    SampleRules rules = made_up_rules();
    rules.pairs.short_sequence_probability = 0;
    rules.duplicate_factor = 20;
    const SampleGroup group(documents_of({document, document}), rules, 0, 1);
    const ShardRows rows = group.rows(0, group.size());
    std::set<std::vector<std::int32_t>> masks;
    for (std::int64_t r = 0; r < rows.rows; ++r) masks.insert(positions_of(rows, r));
    CHECK(static_cast<std::int64_t>(masks.size()) == rows.rows);
    CHECK(std::set(rows.next_sentence_labels_R.begin(), rows.next_sentence_labels_R.end()).size() == 2);
}

TEST_CASE("rows do not depend on how they are requested or on the number of threads, and the group's number changes masks") {
    const SampleRules rules = made_up_rules();
    const auto documents = made_up_documents(600, 5);
    const SampleGroup one(documents_of(documents), rules, 3, 1), four(documents_of(documents), rules, 3, 4),
        other(documents_of(documents), rules, 4, 1);
    REQUIRE(one.size() > 1000);
    const ShardRows rows = one.rows(0, one.size());
    check_rows(rows, vocabulary_size, "rows");
    CHECK(same_rows(rows, four.rows(0, four.size())));
    CHECK(same_rows(slice(rows, 700, 50), one.rows(700, 50)));
    CHECK(one.token_count() == std::count(rows.input_mask_RS.begin(), rows.input_mask_RS.end(), 1));
    CHECK(other.token_count() == one.token_count());
    CHECK_FALSE(same_rows(rows, other.rows(0, other.size())));
}
