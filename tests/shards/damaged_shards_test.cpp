#include "core/error.h"
#include "core/random.h"
#include "sample_rows.h"
#include "shards/check/row_check.h"
#include "shards/check/shard_probe.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

/// Suppressions for the address sanitizer's leak check: libhdf5 1.10 itself leaks a few bytes on some damaged files.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace {

/// Reads a file. Returns "sound", or "refused" if a DataError names it.
std::string outcome(const std::filesystem::path& file) {
    try {
        if (const auto problem = probe_shards({file}, 1).front().problem) throw DataError(*problem);
        const ShardReader reader(file);
        reader.read(0, reader.rows());
    } catch (const DataError& error) {
        return std::string(error.what()).find(file.string()) != std::string::npos ? "refused" : "refused without its name";
    }
    return "sound";
}

}  // namespace

TEST_CASE("a file that is not a shard, or only the first part of one, is a DataError") {
    const TemporaryFolder folder;
    write_rows(folder / "good.h5", made_up_rows(60));
    const std::string good = read_text(folder / "good.h5");
    const std::filesystem::path bad = folder / "bad.h5";
    CHECK(outcome(folder / "good.h5") == "sound");
    CHECK(outcome(folder / "absent.h5") == "refused");
    CHECK(outcome(folder.path()) == "refused");
    for (const std::string& text : {std::string(), std::string("not a shard"), std::string(5000, '\0')}) {
        write_text(bad, text);
        CHECK(outcome(bad) == "refused");
    }
    for (std::size_t i = 1; i <= 40; ++i) {
        write_text(bad, good.substr(0, good.size() - 1 - (good.size() - 2) * (i - 1) / 40));
        CHECK(outcome(bad) == "refused");
    }
}

TEST_CASE("damaged bytes cause different rows or a DataError, never a crash of this process") {
    const TemporaryFolder folder;
    write_rows(folder / "good.h5", made_up_rows(20));
    const std::string good = read_text(folder / "good.h5");
    const std::filesystem::path bad = folder / "bad.h5";
    RandomSequence random(20, Purpose::document_order, 1);
    int refused = 0;
    for (int i = 0; i < 60; ++i) {
        std::string text = good;
        for (int k = 0; k < 8; ++k)
            text[random.below(static_cast<std::uint32_t>(text.size()))] = static_cast<char>(random.below(256));
        write_text(bad, text);
        const std::string result = outcome(bad);
        CHECK((result == "refused" || result == "sound"));
        refused += result == "refused" ? 1 : 0;
    }
    CHECK(refused > 10);
}

TEST_CASE("an invalid row is reported with its column, the value found and the rule") {
    const ShardRows good = made_up_rows(30);
    const std::int64_t S = good.sequence_length, P = good.max_predictions;
    const auto length_of = [&](std::int64_t row) {
        std::int64_t length = 0;
        while (length < S && good.input_mask_RS[static_cast<std::size_t>(row * S + length)] == 1) ++length;
        return length;
    };
    std::int64_t row = 0;
    while (length_of(row) == S || length_of(row) < 20) ++row;  // one with padding and with several masked tokens
    const std::int64_t length = length_of(row);
    const std::string at = "[" + std::to_string(1000 + row) + ", ";
    const auto message = [&](const std::function<void(ShardRows&)>& damage) {
        ShardRows rows = good;
        damage(rows);
        try {
            check_rows(rows, vocabulary_size, "a.h5", 1000);
        } catch (const DataError& error) { return std::string(error.what()); }
        return std::string("accepted");
    };
    const auto s = static_cast<std::size_t>(row * S), p = static_cast<std::size_t>(row * P),
               end = static_cast<std::size_t>(length);
    CHECK(message([](ShardRows&) {}) == "accepted");
    CHECK(contains(message([&](ShardRows& r) { r.input_ids_RS[s + 3] = vocabulary_size; }),
                   "a.h5: input_ids" + at + "3] is 1000, expected an id from 0 to 999"));
    CHECK(contains(message([&](ShardRows& r) { r.input_ids_RS[s + 3] = -1; }), "input_ids" + at + "3] is -1"));
    CHECK(contains(message([&](ShardRows& r) { r.masked_lm_ids_RP[p] = 1 << 30; }), "masked_lm_ids" + at + "0] is 1073741824"));
    CHECK(contains(message([&](ShardRows& r) { r.input_mask_RS[s] = 0; }), "input_mask" + at + "0] is 0, expected 1"));
    CHECK(contains(message([&](ShardRows& r) { r.input_mask_RS[s + 2] = 0; }), "input_mask" + at + "3] is 1, expected 0"));
    CHECK(contains(message([&](ShardRows& r) { r.input_mask_RS[s + 2] = 2; }),
                   "input_mask" + at + "2] is 2, expected 0 or 1, because a row with a label of next sentences"));
    const auto without_labels = [&](std::int8_t second, std::int8_t third) {
        return message([&](ShardRows& r) {
            r.next_sentence_labels_R.clear();
            r.input_mask_RS[s + 1] = second;
            std::fill(r.input_mask_RS.begin() + static_cast<std::ptrdiff_t>(s + 2),
                      r.input_mask_RS.begin() + static_cast<std::ptrdiff_t>(s + end), third);
        });
    };
    CHECK(without_labels(1, 2) == "accepted");  // packed: a document of two tokens, then one of the others
    CHECK(without_labels(2, 3) == "accepted");
    CHECK(contains(without_labels(3, 3), "input_mask" + at + "1] is 3, expected 0, 1, or 2 for the next document"));
    CHECK(contains(without_labels(2, 1), "input_mask" + at + "2] is 1, expected 0, 2, or 3 for the next document"));
    CHECK(contains(without_labels(-1, 1), "input_mask" + at + "1] is -1, expected 0"));
    CHECK(contains(message([&](ShardRows& r) { r.segment_ids_RS[s + 2] = 2; }), "segment_ids" + at + "2] is 2, expected 0 or 1"));
    CHECK(contains(message([&](ShardRows& r) { r.next_sentence_labels_R[static_cast<std::size_t>(row)] = 3; }),
                   "next_sentence_labels" + at + "0] is 3"));
    CHECK(contains(message([&](ShardRows& r) { r.masked_lm_positions_RP[p] = static_cast<std::int32_t>(end); }),
                   "masked_lm_positions" + at + "0] is " + std::to_string(end)));
    CHECK(contains(message([&](ShardRows& r) { r.masked_lm_positions_RP[p + 1] = r.masked_lm_positions_RP[p]; }),
                   "masked_lm_positions" + at + "1]"));
    CHECK(contains(message([&](ShardRows& r) { r.masked_lm_positions_RP[p] = -5; }), "masked_lm_positions" + at + "0] is -5"));
    CHECK(contains(message([&](ShardRows& r) { r.masked_lm_positions_RP[p] = 0; }), "0, because the list ended at column 0"));
}
