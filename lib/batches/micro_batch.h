#pragma once
// What one forward and backward pass reads: real tokens, without padding between sequences.
//
// Axes: B sequences, T tokens, M masked positions, R = B + M rows that the heads read, A spans within which tokens attend to each
// other: a sequence, a part of one, or a document of a packed row. T and M are rounded up to multiples of fixed numbers
// (build_batch.h); the fillers stand at the end.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include "kernels/interface/sequence_layout.h"

namespace bertpretrain {

/// Consecutive sequences of a micro-batch that belong to one source.
struct SourcePart {
    std::size_t source = 0;
    std::int64_t sequences = 0, masked = 0;
};

/// One micro-batch. All tensors are int64, lie on one device and are views of `numbers`. build_batch() makes it; nothing
/// changes it afterwards.
struct MicroBatch {
    SequenceLayout layout;              ///< of the spans of attention
    std::int64_t masked_positions = 0;  ///< without fillers

    /// The sequences by source, and masked_rows_M alike, in a run with several sources. Empty with one source.
    std::vector<SourcePart> source_parts;

    at::Tensor numbers;                           ///< one dimension; holds the values of all tensors below
    at::Tensor input_ids_T;                       ///< fillers: 0
    at::Tensor token_type_ids_T;                  ///< 0 or 1; fillers: 0
    at::Tensor position_ids_T;                    ///< 0 at the start of each sequence or packed document; fillers: 0
    at::Tensor samples_T;                         ///< the number of each token's sample, or of its packed document; fillers: 0
    at::Tensor read_rows_R;                       ///< index into T: the first token of each sequence, then masked_rows_M
    at::Tensor read_positions_R, read_samples_R;  ///< position_ids_T and samples_T at read_rows_R
    at::Tensor masked_rows_M;                     ///< index into T; fillers: 0
    at::Tensor masked_labels_M;                   ///< the original token there; fillers: -1, which has no loss
    at::Tensor next_sentence_labels_B;            ///< 1: the second segment is a random one

    /// Recorded by a copy stream after its copy of `numbers`; null where no copy is under way (batch_copier.h).
    std::shared_ptr<c10::Event> copied;

    std::int64_t sequences() const { return next_sentence_labels_B.numel(); }
    std::int64_t tokens() const { return layout.tokens(); }   ///< without fillers
    std::int64_t masked() const { return masked_positions; }  ///< without fillers
    at::Device device() const { return numbers.device(); }
};

/// The first micro-batch that another rank computes in the same step. A rank without others gets the first sequences of its own.
struct CrossCheckBatch {
    std::int64_t rank = 0;  ///< whose it is
    MicroBatch micro_batch;
};

/// All samples of one optimizer step that one rank computes, or their counts over all ranks.
struct GlobalBatch {
    std::vector<MicroBatch> micro_batches;
    std::optional<CrossCheckBatch> cross_check;  ///< in steps whose computation is checked (train/audit/cross_check)
    std::int64_t sequences = 0;
    std::int64_t tokens = 0;
    std::int64_t masked = 0;
    double data_wait_seconds = 0;  ///< how long the step waited for its data
};

}  // namespace bertpretrain
