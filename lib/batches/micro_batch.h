#pragma once
// What one forward and backward pass consumes: real tokens only, no padding.
//
// Axes: B sequences, T tokens of all of them one after the other, M masked positions of all of them.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// Samples without padding; all tensors on one device. There may be tokens behind the last sequence that belong to none
/// (model/fill_up.h).
struct MicroBatch {
    at::Tensor input_ids_T;               ///< int64
    at::Tensor token_type_ids_T;          ///< int64, 0 or 1
    at::Tensor position_ids_T;            ///< int64, 0 at the start of each sequence
    at::Tensor masked_rows_M;             ///< int64, index into T
    at::Tensor masked_labels_M;           ///< int64, the original token there; -1: a slot that does not count
    at::Tensor next_sentence_labels_B;    ///< int64, 1: the second segment is a random one
    std::vector<std::int64_t> starts_B1;  ///< B + 1 offsets into T, on the host: sequence b is [starts[b], starts[b + 1])
    /// The samples' numbers in the order of the whole run. They key dropout, so that a mask belongs to the sample
    /// and not to the micro-batch or rank that computes it.
    std::vector<std::int64_t> sample_numbers_B;

    std::int64_t sequences() const { return static_cast<std::int64_t>(sample_numbers_B.size()); }
    std::int64_t tokens() const { return starts_B1.empty() ? 0 : starts_B1.back(); }
    std::int64_t masked() const { return masked_labels_M.defined() ? masked_labels_M.numel() : 0; }
};

/// All samples of one optimizer step: this rank's micro-batches, and the counts over all ranks.
struct GlobalBatch {
    std::vector<MicroBatch> micro_batches;
    std::int64_t sequences = 0;    ///< of all ranks
    std::int64_t tokens = 0;       ///< of all ranks
    std::int64_t masked = 0;       ///< of all ranks
    double data_wait_seconds = 0;  ///< how long the step had to wait for its data
};

}  // namespace bertpretrain
