#include "batches/unpadded_batch.h"

#include <cstddef>

#include <ATen/ops/empty.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Tokens of a row: its mask's leading ones.
std::int64_t length_of(const ShardRows& rows, std::int64_t row) {
    const std::int8_t* mask_S = rows.input_mask_RS.data() + row * rows.sequence_length;
    std::int64_t length = 0;
    while (length < rows.sequence_length && mask_S[length] == 1) ++length;
    return length;
}

/// Masked positions of a row: those before the first 0, where [CLS] stands.
std::int64_t masked_of(const ShardRows& rows, std::int64_t row) {
    const std::int32_t* positions_P = rows.masked_lm_positions_RP.data() + row * rows.max_predictions;
    std::int64_t masked = 0;
    while (masked < rows.max_predictions && positions_P[masked] != 0) ++masked;
    return masked;
}

at::Tensor integers(std::int64_t count, bool pinned) {
    return at::empty({count}, at::TensorOptions().dtype(at::kLong).pinned_memory(pinned));
}

/// Where the next row's values go.
struct Cursor {
    std::int64_t *ids, *types, *positions, *masked_rows, *masked_labels, *labels;
};

void append_row(const ShardRows& rows, std::int64_t row, std::int64_t start, std::int64_t length, Cursor& to) {
    const std::int64_t S = rows.sequence_length, P = rows.max_predictions;
    for (std::int64_t s = 0; s < length; ++s) {
        *to.ids++ = rows.input_ids_RS[static_cast<std::size_t>(row * S + s)];
        *to.types++ = rows.segment_ids_RS[static_cast<std::size_t>(row * S + s)];
        *to.positions++ = s;
    }
    const std::int64_t masked = masked_of(rows, row);
    for (std::int64_t p = 0; p < masked; ++p) {
        const std::int64_t position = rows.masked_lm_positions_RP[static_cast<std::size_t>(row * P + p)];
        check(position > 0 && position < length, "masked position ", position, " of a row with ", length, " tokens");
        *to.masked_rows++ = start + position;
        *to.masked_labels++ = rows.masked_lm_ids_RP[static_cast<std::size_t>(row * P + p)];
    }
    *to.labels++ = rows.next_sentence_labels_R[static_cast<std::size_t>(row)];
}

}  // namespace

MicroBatch unpadded_batch(const ShardRows& rows, std::span<const std::int64_t> selected_B,
                          std::vector<std::int64_t> sample_numbers_B, bool pinned) {
    check(selected_B.size() == sample_numbers_B.size(), selected_B.size(), " rows with ", sample_numbers_B.size(), " numbers");
    MicroBatch batch;
    batch.sample_numbers_B = std::move(sample_numbers_B);
    batch.starts_B1.assign(1, 0);
    std::int64_t masked = 0;
    for (const std::int64_t row : selected_B) {
        check(row >= 0 && row < rows.rows, "row ", row, " of ", rows.rows);
        batch.starts_B1.push_back(batch.starts_B1.back() + length_of(rows, row));
        masked += masked_of(rows, row);
    }
    batch.input_ids_T = integers(batch.tokens(), pinned);
    batch.token_type_ids_T = integers(batch.tokens(), pinned);
    batch.position_ids_T = integers(batch.tokens(), pinned);
    batch.masked_rows_M = integers(masked, pinned);
    batch.masked_labels_M = integers(masked, pinned);
    batch.next_sentence_labels_B = integers(batch.sequences(), pinned);

    const auto data = [](const at::Tensor& tensor) { return tensor.data_ptr<std::int64_t>(); };
    Cursor cursor{data(batch.input_ids_T),   data(batch.token_type_ids_T), data(batch.position_ids_T),
                  data(batch.masked_rows_M), data(batch.masked_labels_M),  data(batch.next_sentence_labels_B)};
    for (std::size_t b = 0; b < selected_B.size(); ++b)
        append_row(rows, selected_B[b], batch.starts_B1[b], batch.starts_B1[b + 1] - batch.starts_B1[b], cursor);
    return batch;
}

MicroBatch to_device(MicroBatch batch, at::Device device) {
    for (at::Tensor* tensor : {&batch.input_ids_T, &batch.token_type_ids_T, &batch.position_ids_T, &batch.masked_rows_M,
                               &batch.masked_labels_M, &batch.next_sentence_labels_B})
        *tensor = tensor->to(device, /*non_blocking=*/true);
    return batch;
}

}  // namespace bertpretrain
