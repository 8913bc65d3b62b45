#include "batches/build_batch.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "batches/sample_shards.h"
#include "support/catch.h"
#include "support/golden.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

using Values = std::vector<std::int64_t>;

Values values_of(const at::Tensor& tensor) {
    REQUIRE(tensor.scalar_type() == at::kLong);
    REQUIRE(tensor.is_contiguous());
    const auto* data = tensor.const_data_ptr<std::int64_t>();
    return {data, data + tensor.numel()};
}

/// Returns `values` with `filler` appended up to a multiple.
Values filled(Values values, std::int64_t multiple, std::int64_t filler = 0) {
    const std::int64_t size = std::ssize(values);
    values.resize(static_cast<std::size_t>((size + multiple - 1) / multiple * multiple), filler);
    return values;
}

Values picked(const Values& from, const Values& index) {
    Values result;
    for (const std::int64_t i : index) result.push_back(from[static_cast<std::size_t>(i)]);
    return result;
}

/// Compares with the reference: a padded batch with a label for every position (-1: none), from which the padding is then
/// removed.
void compare_with_padded(const ShardRows& rows, const std::vector<std::int64_t>& selected) {
    Values ids, types, positions, samples, masked_rows, masked_labels, labels, starts{0}, numbers;
    const std::int64_t S = rows.sequence_length, P = rows.max_predictions;
    for (const std::int64_t row : selected) {
        std::vector<std::int64_t> labels_S(static_cast<std::size_t>(S), -1);
        std::int64_t listed = P;
        for (std::int64_t p = P - 1; p >= 0; --p)
            if (rows.masked_lm_positions_RP[static_cast<std::size_t>(row * P + p)] == 0) listed = p;
        for (std::int64_t p = 0; p < listed; ++p) {
            const auto i = static_cast<std::size_t>(row * P + p);
            labels_S[static_cast<std::size_t>(rows.masked_lm_positions_RP[i])] = rows.masked_lm_ids_RP[i];
        }
        for (std::int64_t s = 0; s < S; ++s) {
            const auto i = static_cast<std::size_t>(row * S + s);
            if (rows.input_mask_RS[i] == 0) continue;
            if (labels_S[static_cast<std::size_t>(s)] != -1) {
                masked_rows.push_back(static_cast<std::int64_t>(ids.size()));
                masked_labels.push_back(labels_S[static_cast<std::size_t>(s)]);
            }
            ids.push_back(rows.input_ids_RS[i]);
            types.push_back(rows.segment_ids_RS[i]);
            positions.push_back(s);
            samples.push_back(1000 + row);
        }
        labels.push_back(rows.next_sentence_labels_R[static_cast<std::size_t>(row)]);
        starts.push_back(static_cast<std::int64_t>(ids.size()));
        numbers.push_back(1000 + row);
    }
    const MicroBatch batch = build_batch(unpadded_samples(rows, selected, numbers));
    CHECK(values_of(batch.input_ids_T) == filled(ids, token_multiple(at::kCPU)));
    CHECK(values_of(batch.token_type_ids_T) == filled(types, token_multiple(at::kCPU)));
    CHECK(values_of(batch.position_ids_T) == filled(positions, token_multiple(at::kCPU)));
    CHECK(values_of(batch.samples_T) == filled(samples, token_multiple(at::kCPU)));
    CHECK(values_of(batch.masked_rows_M) == filled(masked_rows, masked_multiple));
    CHECK(values_of(batch.masked_labels_M) == filled(masked_labels, masked_multiple, -1));
    CHECK(values_of(batch.next_sentence_labels_B) == labels);
    CHECK(batch.layout.starts_B1 == starts);
    CHECK(batch.layout.samples_B == numbers);
    CHECK(values_of(batch.layout.device_starts_B1) == starts);
    CHECK(values_of(batch.layout.device_samples_B) == numbers);
    for (const SequenceTiles& tiles : {batch.layout.wide_tiles, batch.layout.narrow_tiles}) {
        const HostTiles expected = tiles_of(batch.layout, tiles.rows);
        CHECK(tiles.count == std::ssize(expected.tiles_P));
        CHECK(values_of(tiles.device_tiles_P) == expected.tiles_P);
        CHECK(values_of(tiles.device_first_tile_B) == expected.first_tile_B);
    }
    CHECK(batch.sequences() == static_cast<std::int64_t>(selected.size()));
    CHECK(batch.tokens() == static_cast<std::int64_t>(ids.size()));
    CHECK(batch.masked() == static_cast<std::int64_t>(masked_rows.size()));

    Values read(starts.begin(), starts.end() - 1);
    const Values masked_and_fillers = filled(masked_rows, masked_multiple);
    read.insert(read.end(), masked_and_fillers.begin(), masked_and_fillers.end());
    CHECK(values_of(batch.read_rows_R) == read);
    CHECK(values_of(batch.read_positions_R) == picked(positions, read));
    CHECK(values_of(batch.read_samples_R) == picked(samples, read));
}

}  // namespace

TEST_CASE("a micro-batch is the padded batch without its padding, filled up to multiples") {
    const ShardRows rows = sample_rows(3, 0, 40);
    compare_with_padded(rows, {0, 1, 2, 3, 4, 5, 6, 7});
    compare_with_padded(rows, {39, 0, 17, 17, 4});
    compare_with_padded(rows, {21});
}

TEST_CASE("rows of NVIDIA's own shards unpad as its reader understands them") {
    const ShardReader reader(golden_sample("nvidia_seq128_pred20_dupe1_seed1.hdf5"));
    std::vector<std::int64_t> all(static_cast<std::size_t>(reader.rows()));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    compare_with_padded(reader.read(0, reader.rows()), all);
}

TEST_CASE("a list of masked positions ends at its first 0, or is full") {
    ShardRows rows = empty_rows(3, 6, 2);
    std::fill(rows.input_mask_RS.begin(), rows.input_mask_RS.end(), std::int8_t{1});
    rows.masked_lm_positions_RP = {0, 0, 3, 0, 1, 5};
    rows.masked_lm_ids_RP = {0, 0, 30, 0, 10, 50};
    const std::vector<UnpaddedSamples> samples = unpadded_samples(rows, {0, 1, 2}, {0, 1, 2});
    const std::vector<Values> positions{{}, {3}, {1, 5}}, labels{{}, {30}, {10, 50}};
    for (std::size_t b = 0; b < 3; ++b) {
        CHECK(samples[b].masked_rows_M == positions[b]);
        CHECK(samples[b].masked_labels_M == labels[b]);
    }
}

TEST_CASE("with a document's end, each document of a row is a span of attention with dropout of its own") {
    constexpr std::int32_t sep = 3, word = 50;
    ShardRows rows = empty_rows(2, 10, 2, /*has_labels=*/false);
    rows.input_ids_RS = {2, word, word, sep,  word, sep, sep, sep, 0, 0,  //
                         2, word, word, word, sep,  0,   0,   0,   0, 0};
    rows.input_mask_RS = {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
    rows.masked_lm_positions_RP = {4, 6, 0, 0};  // a random token at position 6 happens to be [SEP]
    rows.masked_lm_ids_RP = {word, word, 0, 0};
    const std::vector<UnpaddedSamples> samples = unpadded_samples(rows, {0, 1}, {7, 8}, sep);
    CHECK(samples[0].attention_lengths_A == Values{4, 2, 2});
    CHECK(samples[1].attention_lengths_A == Values{5});
    const MicroBatch batch = build_batch(samples);
    CHECK(batch.layout.starts_B1 == Values{0, 4, 6, 8, 13});
    constexpr std::int64_t next_span = std::int64_t{1} << 48;
    CHECK(batch.layout.samples_B == Values{7, 7 + next_span, 7 + 2 * next_span, 8});
    CHECK(values_of(batch.layout.device_starts_B1) == batch.layout.starts_B1);
    CHECK(batch.sequences() == 2);
    CHECK(batch.tokens() == 13);
    CHECK(values_of(batch.position_ids_T) == filled({0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4}, token_multiple(at::kCPU)));
    CHECK(values_of(batch.samples_T) == filled({7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8}, token_multiple(at::kCPU)));
    CHECK(values_of(batch.read_rows_R.narrow(0, 0, 2)) == Values{0, 8});
}

TEST_CASE("a packed row is one sample; each of its documents has positions, attention and dropout of its own") {
    constexpr std::int32_t sep = 3, word = 50;
    ShardRows rows = empty_rows(2, 10, 2, /*has_labels=*/false);
    rows.input_ids_RS = {2, word, sep, sep,  2,   sep, 2, word, sep, 0,  // a text may hold a [SEP]
                         2, word, sep, word, sep, 0,   0, 0,    0,   0};
    rows.input_mask_RS = {1, 1, 1, 1, 2, 2, 3, 3, 3, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
    rows.masked_lm_positions_RP = {1, 7, 3, 0};
    rows.masked_lm_ids_RP = {word, word, word, 0};
    constexpr std::int64_t next = std::int64_t{1} << 48;
    for (const bool divides : {false, true}) {
        const std::vector<UnpaddedSamples> samples =
            unpadded_samples(rows, {0, 1}, {7, 8}, divides ? std::optional(sep) : std::nullopt);
        CHECK(samples[0].attention_lengths_A == Values{4, 2, 3});
        CHECK(samples[1].attention_lengths_A == (divides ? Values{3, 2} : Values{}));
        const MicroBatch batch = build_batch(samples);
        CHECK(batch.sequences() == 2);
        CHECK(batch.tokens() == 14);
        CHECK(batch.masked() == 3);
        CHECK(batch.layout.longest == (divides ? 4 : 5));
        CHECK(batch.layout.starts_B1 == (divides ? Values{0, 4, 6, 9, 12, 14} : Values{0, 4, 6, 9, 14}));
        CHECK(batch.layout.samples_B ==
              (divides ? Values{7, 7 + next, 7 + 2 * next, 8, 8 + next} : Values{7, 7 + next, 7 + 2 * next, 8}));
        CHECK(values_of(batch.position_ids_T) == filled({0, 1, 2, 3, 0, 1, 0, 1, 2, 0, 1, 2, 3, 4}, token_multiple(at::kCPU)));
        CHECK(values_of(batch.samples_T) ==
              filled({7, 7, 7, 7, 7 + next, 7 + next, 7 + 2 * next, 7 + 2 * next, 7 + 2 * next, 8, 8, 8, 8, 8},
                     token_multiple(at::kCPU)));
        CHECK(values_of(batch.read_rows_R.narrow(0, 0, 5)) == Values{0, 9, 1, 7, 12});
        CHECK(values_of(batch.read_positions_R.narrow(0, 0, 5)) == Values{0, 0, 1, 1, 3});
        CHECK(values_of(batch.read_samples_R.narrow(0, 0, 5)) == Values{7, 8, 7, 7 + 2 * next, 8});
    }
}

TEST_CASE("spans of attention that cross samples or do not cover them are refused") {
    UnpaddedSamples samples;
    samples.lengths_B = {3, 4};
    samples.numbers_B = {0, 1};
    samples.input_ids_T.resize(7);
    for (const Values& lengths : {Values{4, 3}, Values{3, 2}, Values{3, 4, 1}}) {
        samples.attention_lengths_A = lengths;
        CHECK_THROWS_AS(build_batch(samples), std::logic_error);
    }
}

TEST_CASE("unchecked rows cause no access beyond their tokens") {
    ShardRows rows = empty_rows(1, 6, 2);
    rows.input_mask_RS = {1, 1, 1, 0, 0, 0};
    rows.masked_lm_positions_RP = {3, 0};
    CHECK_THROWS_AS(unpadded_sample(rows, 0, 0), std::logic_error);
}

TEST_CASE("a batch stays the same on its way to a device") {
    const ShardRows rows = sample_rows(1, 0, 5);
    const std::vector<std::int64_t> selected{4, 2};
    const MicroBatch batch = to_device(build_batch(unpadded_samples(rows, selected, {7, 8})), at::Device(at::kCPU));
    CHECK(origins_of(batch) == std::vector<Origin>{{1, 4}, {1, 2}});
    CHECK(batch.layout.samples_B == Values{7, 8});
}

TEST_CASE("sizes of samples that do not match are refused, and so is a masked row outside the tokens") {
    UnpaddedSamples samples;
    samples.lengths_B = {2, 3};
    samples.numbers_B = {0, 1};
    samples.input_ids_T = {1, 2, 3, 4, 5};
    samples.masked_rows_M = {4};
    samples.masked_labels_M = {9};
    CHECK(build_batch(samples).layout.longest == 3);
    CHECK(values_of(build_batch(samples).next_sentence_labels_B) == Values{0, 0});
    const auto refuses = [&](Values UnpaddedSamples::*member, const Values& values) {
        UnpaddedSamples other = samples;
        other.*member = values;
        CHECK_THROWS_AS(build_batch(other), std::logic_error);
    };
    refuses(&UnpaddedSamples::numbers_B, {0});
    refuses(&UnpaddedSamples::input_ids_T, {1, 2, 3, 4});
    refuses(&UnpaddedSamples::token_type_ids_T, {0});
    refuses(&UnpaddedSamples::next_sentence_labels_B, {1});
    refuses(&UnpaddedSamples::masked_labels_M, {});
    refuses(&UnpaddedSamples::masked_rows_M, {5});
    refuses(&UnpaddedSamples::masked_rows_M, {-1});
}
