#pragma once
// The rows of the encoder's output that the heads read. The last layer computes no others after its attention.

#include <ATen/ops/zeros.h>

#include "batches/micro_batch.h"
#include "kernels/fused_operations.h"

namespace bertpretrain {

/// The first token of each of B sequences, then M masked positions.
struct ReadRows {
    at::Tensor index_R;  ///< int64, R = B + M indices into T; undefined: all rows
    RowKeys keys;
};

/// The rows that a layer computes after its attention: all rows, or in the last layer those that the heads read.
class RowsAfterAttention {
public:
    /// @param read, all outlive this
    RowsAfterAttention(const ReadRows& read, const RowKeys& all, bool is_last_layer)
        : read_(read), all_rows_(all), all_(!read.index_R.defined() || !is_last_layer) {}

    const RowKeys& keys() const { return all_ ? all_rows_ : read_.keys; }
    at::Tensor pick(const at::Tensor& x_TH) const { return all_ || !x_TH.defined() ? x_TH : x_TH.index_select(0, read_.index_R); }
    Residual pick(const Residual& residual) const { return all_ ? residual : residual.select(read_.index_R); }
    /// The backward of pick. Rows picked more than once are summed; only fillers (build_batch.h) pick rows again, with zero
    /// gradients.
    at::Tensor put_back(const at::Tensor& d_RH, const MicroBatch& batch) const {
        if (all_ || !d_RH.defined()) return d_RH;
        return at::zeros({batch.input_ids_T.numel(), d_RH.size(1)}, d_RH.options()).index_add_(0, read_.index_R, d_RH);
    }

private:
    const ReadRows& read_;
    const RowKeys& all_rows_;
    bool all_;
};

}  // namespace bertpretrain
