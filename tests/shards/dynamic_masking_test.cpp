#include "shards/dynamic_masking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "sample_rows.h"
#include "shards/build/build_request.h"
#include "shards/build/reference_samples.h"
#include "shards/check/row_check.h"
#include "shards/shard_reader.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/golden.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::int64_t length_of(const ShardRows& rows, std::int64_t row) {
    const auto mask = rows.input_mask_RS.begin() + row * rows.sequence_length;
    return std::count(mask, mask + rows.sequence_length, 1);
}

std::int64_t masked_of(const ShardRows& rows, std::int64_t row) {
    const auto positions = rows.masked_lm_positions_RP.begin() + row * rows.max_predictions;
    return std::find(positions, positions + rows.max_predictions, 0) - positions;
}

/// Counts rows whose two segments, between [CLS] and [SEP], both occur in the documents, so that no masked token is left.
std::int64_t rows_of_documents(const ShardRows& rows, const Documents& documents, const SpecialIds& specials) {
    const std::span<const std::int32_t> text = documents.tokens(0, documents.token_count());
    std::int64_t found = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const auto ids = std::span(rows.input_ids_RS).subspan(static_cast<std::size_t>(r * rows.sequence_length));
        const auto end = ids.begin() + length_of(rows, r);
        const auto middle = std::find(ids.begin(), end, specials.sep);
        const bool a = std::search(text.begin(), text.end(), ids.begin() + 1, middle) != text.end();
        const bool b = std::search(text.begin(), text.end(), middle + 1, end - 1) != text.end();
        found += ids[0] == specials.cls && *(end - 1) == specials.sep && a && b ? 1 : 0;
    }
    return found;
}

DynamicMasking made_up_masking(double rate = 0.15, std::uint64_t seed = 5) {
    return {{rate, 64}, special_ids, vocabulary_size, seed};
}

std::vector<std::int64_t> numbers_from(std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

/// Returns |found - expected| in standard errors of a share of `of`.
double standard_errors(double found, double expected, double of) {
    return std::abs(found / of - expected) / std::sqrt(expected * (1 - expected) / of);
}

}  // namespace

TEST_CASE("restored rows of the reference's shards contain exactly the text that they were made from") {
    const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(golden_sample("vocab.txt")));
    SampleSettings settings;
    settings.compatible_with = settings.token_rules = "nvidia";
    const Documents documents =
        read_reference_text(golden_sample("text.txt"), *make_tokenizer(settings, golden_sample("vocab.txt")), 1);
    const ShardReader reader(golden_sample("nvidia_seq128_pred20_dupe1_seed1.hdf5"));
    ShardRows rows = reader.read(0, reader.rows());
    CHECK(rows_of_documents(rows, documents, vocabulary->specials()) < rows.rows / 10);
    restore_text(rows);
    CHECK(rows_of_documents(rows, documents, vocabulary->specials()) == rows.rows);
}

TEST_CASE("rows with the maximum number of masked positions are restored completely") {
    const Documents documents = documents_of(made_up_documents(40, 3));
    const SampleRules rules = made_up_rules(128, 8);
    const SampleGroup group(documents_of(made_up_documents(40, 3)), rules, 0, 1);
    ShardRows rows = group.rows(0, 40);
    std::int64_t full = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) full += masked_of(rows, r) == 8 ? 1 : 0;
    REQUIRE(full > 20);
    restore_text(rows);
    CHECK(rows_of_documents(rows, documents, special_ids) == rows.rows);
}

TEST_CASE("new masks keep a row's text, differ between epochs, and depend on the sample's number only") {
    const ShardRows stored = made_up_rows(50);
    ShardRows text = stored;
    restore_text(text);
    const DynamicMasking rules = made_up_masking();
    const ShardRows first = mask_again(stored, numbers_from(0, 50), rules);
    check_rows(first, vocabulary_size, "first epoch");
    CHECK(same_rows(first, mask_again(first, numbers_from(0, 50), rules)));  // independent of the old masks
    ShardRows restored = first;
    restore_text(restored);
    CHECK(restored.input_ids_RS == text.input_ids_RS);
    CHECK(first.segment_ids_RS == stored.segment_ids_RS);
    CHECK(first.next_sentence_labels_R == stored.next_sentence_labels_R);

    // Row 30 as part of a batch and alone: the distribution of samples over ranks and steps does not matter.
    CHECK(same_rows(mask_again(slice(stored, 30, 1), numbers_from(30, 1), rules), slice(first, 30, 1)));
    const ShardRows second = mask_again(stored, numbers_from(50, 50), rules);
    std::int64_t differing = 0;
    for (std::int64_t r = 0; r < 50; ++r) differing += same_rows(slice(first, r, 1), slice(second, r, 1)) ? 0 : 1;
    CHECK(differing >= 48);  // rows of a few tokens can get the same choice twice
    CHECK_FALSE(same_rows(first, mask_again(stored, numbers_from(0, 50), made_up_masking(0.15, 6))));
}

TEST_CASE("the requested share of each row's tokens is masked: 80 % as [MASK], 10 % unchanged, 10 % as a random token") {
    const ShardRows stored = made_up_rows(300, 128, 20);
    ShardRows text = stored;
    restore_text(text);
    for (const double rate : {0.15, 0.4}) {
        double hidden = 0, as_mask = 0, unchanged = 0, tokens = 0;
        for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
            const ShardRows rows = mask_again(stored, numbers_from(300 * epoch, 300), made_up_masking(rate));
            for (std::int64_t r = 0; r < rows.rows; ++r) {
                const std::int64_t count = masked_of(rows, r), length = length_of(rows, r);
                REQUIRE(count == std::min<std::int64_t>(length - 3, prediction_count(length, {rate, 1000})));
                hidden += static_cast<double>(count);
                tokens += static_cast<double>(length);
                for (std::int64_t p = 0; p < count; ++p) {
                    const std::int32_t position =
                        rows.masked_lm_positions_RP[static_cast<std::size_t>(r * rows.max_predictions + p)];
                    const auto at = static_cast<std::size_t>(r * 128 + position);
                    as_mask += rows.input_ids_RS[at] == special_ids.mask ? 1 : 0;
                    unchanged += rows.input_ids_RS[at] == text.input_ids_RS[at] ? 1 : 0;
                }
            }
        }
        INFO("rate " << rate << ", " << hidden << " of " << tokens << " hidden");
        CHECK(standard_errors(hidden, rate, tokens) < 3);
        CHECK(standard_errors(as_mask, 0.8 + 0.1 / vocabulary_size, hidden) < 3);
        CHECK(standard_errors(unchanged, 0.1 + 0.1 / vocabulary_size, hidden) < 3);
        CHECK(standard_errors(hidden - as_mask - unchanged, 0.1, hidden) < 3);
    }
}

TEST_CASE("with special_tokens [CLS] and [SEP] are masked as often as other tokens, and padding is not") {
    ShardRows text = made_up_rows(300);
    restore_text(text);
    DynamicMasking rules = made_up_masking(0.3);
    rules.masking.special_tokens = true;
    double hidden = 0, tokens = 0, hidden_specials = 0, hidden_cls = 0;
    for (std::int64_t r = 0; r < text.rows; ++r) {
        const auto length = static_cast<std::size_t>(length_of(text, r));
        const auto whole = std::span(text.input_ids_RS).subspan(static_cast<std::size_t>(r * text.sequence_length), length);
        std::vector<std::int32_t> ids(whole.begin(), whole.end());
        const MaskedTokens masked = mask_again(ids, r, rules);
        REQUIRE(std::ssize(masked.positions) == prediction_count(static_cast<std::int64_t>(length), {0.3, 1000}));
        hidden += static_cast<double>(masked.positions.size());
        tokens += static_cast<double>(length);
        for (std::size_t p = 0; p < masked.positions.size(); ++p) {
            const std::int32_t position = masked.positions[p], label = masked.labels[p];
            REQUIRE(label == whole[static_cast<std::size_t>(position)]);
            hidden_specials += label == special_ids.cls || label == special_ids.sep ? 1 : 0;
            hidden_cls += position == 0 ? 1 : 0;
        }
    }
    CHECK(standard_errors(hidden_specials, hidden / tokens, 3 * 300) < 3);
    CHECK(standard_errors(hidden_cls, hidden / tokens, 300) < 3);
}

TEST_CASE("whole words are masked or kept, even if the model has more ids than the vocabulary") {
    std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    for (int i = 5; i < vocabulary_size; ++i) tokens.push_back((i % 3 == 0 ? "##" : "") + std::to_string(i));
    const Vocabulary vocabulary(std::move(tokens), "made up");
    const DynamicMasking rules = dynamic_masking(vocabulary, 0.3, true, false, 64, vocabulary_size + 8, 1);
    CHECK(rules.masking.max_predictions == 19);
    ShardRows stored = made_up_rows(60);
    restore_text(stored);
    stored.input_ids_RS[1] = vocabulary_size + 7;
    const ShardRows rows = mask_again(stored, numbers_from(0, 60), rules);
    std::int64_t hidden = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        std::vector<bool> is_hidden(64);
        for (std::int64_t p = 0; p < masked_of(rows, r); ++p)
            is_hidden[static_cast<std::size_t>(
                rows.masked_lm_positions_RP[static_cast<std::size_t>(r * rows.max_predictions + p)])] = true;
        for (std::size_t s = 2; s < static_cast<std::size_t>(length_of(rows, r)); ++s) {
            const std::int32_t id = stored.input_ids_RS[static_cast<std::size_t>(r) * 64 + s],
                               before = stored.input_ids_RS[static_cast<std::size_t>(r) * 64 + s - 1];
            if (id >= 5 && before >= 5 && id % 3 == 0) CHECK(is_hidden[s] == is_hidden[s - 1]);
            hidden += is_hidden[s] ? 1 : 0;
        }
    }
    CHECK(hidden > 60);
}

TEST_CASE("rows of another vocabulary, which do not begin with its [CLS], are refused rather than masked wrongly") {
    DynamicMasking rules = made_up_masking();
    rules.special_ids.cls = 17;
    CHECK_THROWS_AS(mask_again(made_up_rows(5), numbers_from(0, 5), rules), DataError);
}
