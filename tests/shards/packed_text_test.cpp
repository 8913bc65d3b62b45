#include "shards/build/packed_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
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

/// A row's tokens, and its input mask there.
struct Row {
    Tokens tokens;
    std::vector<std::int8_t> mask;
};

std::vector<Row> rows_of(const Documents& documents, const PackSettings& settings) {
    const PackedText packed = pack_documents(documents, settings);
    std::vector<Row> all;
    std::int64_t length = 0;
    for (std::size_t r = 0; r < packed.rows(); ++r) {
        ShardRows rows = empty_rows(1, settings.sequence_length, 1, /*has_labels=*/false);
        const auto tokens = put_packed(documents, packed, r, special_ids, rows, 0);
        check_rows(rows, std::numeric_limits<std::int32_t>::max(), "a row");
        const auto end = std::ranges::find(rows.input_mask_RS, std::int8_t{0});
        all.push_back({{tokens.begin(), tokens.end()}, {rows.input_mask_RS.begin(), end}});
        CHECK(all.back().mask.size() == tokens.size());
        CHECK(packed.length(r) == tokens.size());
        length += std::ssize(tokens);
    }
    CHECK(packed.total_length() == length);
    return all;
}

std::vector<Tokens> packed(const std::vector<Sentences>& lists, std::int64_t length, bool across_documents) {
    std::vector<Tokens> samples;
    for (const Row& row : rows_of(documents_of(lists), {length, across_documents})) {
        CHECK(std::ranges::count(row.mask, 1) == std::ssize(row.mask));
        samples.push_back(row.tokens);
    }
    return samples;
}

/// Best-fit packing by plain loops: each row is a list of sequences. Of rows with equal room, the last changed one is taken.
std::vector<std::vector<Tokens>> best_fit_by_hand(const std::vector<Sentences>& documents, std::size_t length) {
    std::vector<Tokens> pieces;
    for (const Sentences& document : documents) {
        Tokens text;
        for (const Tokens& sentence : document) text.insert(text.end(), sentence.begin(), sentence.end());
        for (std::size_t begin = 0; begin < text.size(); begin += length - 2) {
            pieces.push_back({special_ids.cls});
            for (std::size_t t = begin; t < std::min(text.size(), begin + length - 2); ++t) pieces.back().push_back(text[t]);
            pieces.back().push_back(special_ids.sep);
        }
    }
    std::ranges::stable_sort(pieces, [](const Tokens& a, const Tokens& b) { return a.size() > b.size(); });
    std::vector<std::vector<Tokens>> rows;
    std::vector<std::size_t> rooms, changes;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
        std::size_t best = rows.size();
        for (std::size_t r = 0; r < rows.size(); ++r) {
            if (rooms[r] < pieces[p].size()) continue;
            if (best == rows.size() || rooms[r] < rooms[best] || (rooms[r] == rooms[best] && changes[r] > changes[best]))
                best = r;
        }
        if (best == rows.size()) {
            rows.emplace_back();
            rooms.push_back(length);
            changes.push_back(0);
        }
        rows[best].push_back(pieces[p]);
        rooms[best] -= pieces[p].size();
        changes[best] = p;
    }
    return rows;
}

/// Returns the sequences of a packed row, by its mask.
std::vector<Tokens> sequences_of(const Row& row) {
    std::vector<Tokens> sequences;
    for (std::size_t s = 0; s < row.mask.size(); ++s) {
        if (s == 0 || row.mask[s] != row.mask[s - 1]) sequences.emplace_back();
        sequences.back().push_back(row.tokens[s]);
    }
    return sequences;
}

/// Returns documents of one sentence whose lengths are distributed as those of Wikipedia's articles: log-normally, with a median
/// of 200 tokens. Each token is another id.
std::vector<Sentences> article_lengths(std::size_t count, std::uint64_t seed) {
    RandomSequence random(seed, Purpose::document_order, 98);
    std::vector<Sentences> documents(count);
    std::int32_t next = special_ids.mask + 1;
    for (Sentences& document : documents) {
        double normal = -6;
        for (int i = 0; i < 12; ++i) normal += static_cast<double>(random.uniform());
        document.emplace_back(static_cast<std::size_t>(1 + 200 * std::exp(1.1 * normal)));
        std::ranges::generate(document.front(), [&] { return next++; });
    }
    return documents;
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

TEST_CASE("best-fit packing equals plain loops: each piece, the longest first, in the fullest row that has room for it") {
    const std::vector<Sentences> few{{{10, 11, 12}, {13, 14}}, {{20}}, {{30, 31, 32, 33, 34, 35, 36, 37, 38}}, {{40, 41}}};
    const std::vector<Row> rows = rows_of(documents_of(few), {9, false, true});
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].tokens == Tokens{2, 30, 31, 32, 33, 34, 35, 36, 3});
    CHECK(rows[1].tokens == Tokens{2, 10, 11, 12, 13, 14, 3});
    CHECK(rows[2].tokens == Tokens{2, 37, 38, 3, 2, 40, 41, 3});
    CHECK(rows[3].tokens == Tokens{2, 20, 3});
    CHECK(rows[2].mask == std::vector<std::int8_t>{1, 1, 1, 1, 2, 2, 2, 2});
    for (const std::int64_t length : {5, 6, 17, 31, 64, 512, 1024}) {
        const std::vector<Sentences> documents = made_up_documents(200, static_cast<std::uint64_t>(length));
        std::vector<std::vector<Tokens>> found;
        for (const Row& row : rows_of(documents_of(documents), {length, false, true})) found.push_back(sequences_of(row));
        CAPTURE(length);
        CHECK(found == best_fit_by_hand(documents, static_cast<std::size_t>(length)));
    }
}

TEST_CASE("best-fit packing fills 97 % of each row's tokens, loses and doubles no token, and divides no document that fits") {
    for (const std::int64_t length : {128, 1024, 8192}) {
        CAPTURE(length);
        const std::vector<Sentences> lists = article_lengths(4000, static_cast<std::uint64_t>(length));
        std::map<std::int32_t, std::size_t> document_of;  // by its first token
        for (std::size_t d = 0; d < lists.size(); ++d) document_of[lists[d][0][0]] = d;
        const std::vector<Row> rows = rows_of(documents_of(lists), {length, false, true});
        std::vector<std::int32_t> texts;
        std::int64_t filled = 0, divided = 0;
        for (const Row& row : rows) {
            filled += std::ssize(row.tokens);
            for (const Tokens& sequence : sequences_of(row)) {
                CHECK(sequence.front() == special_ids.cls);
                CHECK(sequence.back() == special_ids.sep);
                texts.insert(texts.end(), sequence.begin() + 1, sequence.end() - 1);
                CHECK(std::ranges::is_sorted(sequence.begin() + 1, sequence.end() - 1));
                const auto document = std::prev(document_of.upper_bound(sequence[1]));
                const std::size_t whole = lists[document->second][0].size();
                if (whole + 2 > sequence.size()) {
                    ++divided;
                    CHECK(whole + 2 > static_cast<std::size_t>(length));
                }
            }
        }
        CHECK(divided > 0);
        CHECK(static_cast<double>(filled) >= 0.97 * static_cast<double>(std::ssize(rows) * length));
        std::ranges::sort(texts);
        Tokens all(texts.size());
        std::iota(all.begin(), all.end(), special_ids.mask + 1);
        CHECK(texts == all);
        CHECK(texts.back() == lists.back().back().back());
    }
}

TEST_CASE("a packed row may hold more documents than its mask has numbers") {
    const std::vector<Row> rows = rows_of(documents_of(std::vector<Sentences>(300, Sentences{{50}})), {900, false, true});
    REQUIRE(rows.size() == 1);
    CHECK(sequences_of(rows[0]) == std::vector<Tokens>(300, Tokens{2, 50, 3}));
    CHECK(rows[0].mask[3 * 126] == 127);
    CHECK(rows[0].mask[3 * 127] == 1);
}

TEST_CASE("packed rows depend on no number of threads, and each duplicate has its own masks") {
    const SampleRules rules = best_fit_rules();
    const auto documents = made_up_documents(60, 3);
    const SampleGroup group(documents_of(documents), rules, 2, 1);
    const ShardRows rows = group.rows(0, group.size());
    check_rows(rows, vocabulary_size, "rows");
    CHECK_FALSE(rows.has_labels());
    CHECK(group.token_count() == std::ssize(rows.input_mask_RS) - std::ranges::count(rows.input_mask_RS, 0));
    CHECK(std::ranges::count(rows.input_mask_RS, 2) > 0);
    CHECK(same_rows(rows, SampleGroup(documents_of(documents), rules, 2, 4).rows(0, group.size())));
    std::set<std::pair<Tokens, Tokens>> masked;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const auto labels = rows.masked_lm_ids_RP.begin() + r * rows.max_predictions;
        const auto positions = rows.masked_lm_positions_RP.begin() + r * rows.max_predictions;
        masked.emplace(Tokens(labels, labels + rows.max_predictions), Tokens(positions, positions + rows.max_predictions));
    }
    CHECK(std::ssize(masked) == rows.rows);
}
