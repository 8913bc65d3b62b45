#include "shards/build/packed_text.h"

#include <algorithm>
#include <set>

#include "sample_rows.h"
#include "shards/check/row_check.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

using Tokens = std::vector<std::int32_t>;

/// The samples by plain loops over sentences, as lists of tokens with [CLS] and [SEP].
std::vector<Tokens> packed_by_hand(const std::vector<Sentences>& documents, std::size_t length, bool across_documents) {
    std::vector<Tokens> samples;
    Tokens open{special_ids.cls};
    const auto close = [&] {
        if (open.size() == 1) return;
        open.push_back(special_ids.sep);
        samples.push_back(open);
        open = {special_ids.cls};
    };
    for (const Sentences& document : documents) {
        bool begins = open.size() > 1;
        for (const Tokens& sentence : document) {
            if (open.size() + (begins ? 1 : 0) + sentence.size() + 1 > length) close();
            else if (begins) open.push_back(special_ids.sep);
            begins = false;
            for (const std::int32_t token : sentence) {
                if (open.size() + 1 == length) close();
                open.push_back(token);
            }
        }
        if (!across_documents) close();
    }
    close();
    return samples;
}

std::vector<Tokens> packed(const std::vector<Sentences>& lists, std::int64_t length, bool across_documents) {
    const Documents documents = documents_of(lists);
    std::vector<Tokens> samples;
    for (const PackedText& pack : pack_documents(documents, {length, across_documents})) {
        ShardRows rows = empty_rows(1, length, 1, /*has_labels=*/false);
        const auto tokens = put_packed(documents, pack, special_ids, rows, 0);
        check_rows(rows, vocabulary_size, "a row");
        samples.emplace_back(tokens.begin(), tokens.end());
        CHECK(pack.length() == tokens.size());
    }
    return samples;
}

}  // namespace

TEST_CASE("a sample holds as many whole sentences as fit, of one document or across documents") {
    const std::vector<Sentences> documents{{{10, 11, 12}, {13, 14}, {15, 16, 17, 18}}, {{20, 21}}, {{30}}};
    CHECK(packed(documents, 8, false) ==
          std::vector<Tokens>{{2, 10, 11, 12, 13, 14, 3}, {2, 15, 16, 17, 18, 3}, {2, 20, 21, 3}, {2, 30, 3}});
    CHECK(packed(documents, 10, true) ==
          std::vector<Tokens>{{2, 10, 11, 12, 13, 14, 3}, {2, 15, 16, 17, 18, 3, 20, 21, 3}, {2, 30, 3}});
}

TEST_CASE("packing equals plain loops over sentences, for any length, also when sentences are longer than a sample") {
    for (const std::int64_t length : {5, 6, 17, 31, 64, 512})
        for (const bool across_documents : {false, true}) {
            const std::vector<Sentences> documents = made_up_documents(120, static_cast<std::uint64_t>(length));
            CAPTURE(length, across_documents);
            CHECK(packed(documents, length, across_documents) ==
                  packed_by_hand(documents, static_cast<std::size_t>(length), across_documents));
        }
}

TEST_CASE("samples of masked words alone have no labels, and each duplicate has its own masks") {
    SampleRules rules = packing_rules(/*across_documents=*/true);
    const SampleGroup group(documents_of(made_up_documents(40, 3)), rules, 2, 1);
    const ShardRows rows = group.rows(0, group.size());
    CHECK_FALSE(rows.has_labels());
    check_rows(rows, vocabulary_size, "rows");
    CHECK(std::ranges::count(rows.segment_ids_RS, 0) == std::ssize(rows.segment_ids_RS));
    CHECK(group.token_count() == std::ranges::count(rows.input_mask_RS, 1));
    CHECK(same_rows(rows, SampleGroup(documents_of(made_up_documents(40, 3)), rules, 2, 4).rows(0, group.size())));
    rules.duplicate_factor = 1;
    const SampleGroup once(documents_of(made_up_documents(40, 3)), rules, 2, 1);
    CHECK(group.size() == 3 * once.size());
    std::set<Tokens> ids;
    for (std::int64_t r = 0; r < rows.rows; ++r)
        ids.emplace(rows.input_ids_RS.begin() + r * 64, rows.input_ids_RS.begin() + (r + 1) * 64);
    CHECK(std::ssize(ids) == rows.rows);
}
