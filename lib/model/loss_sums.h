#pragma once
// Sums of losses and of correct predictions over batches.

#include <cstdint>
#include <utility>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

struct LossValues {
    double mlm_loss = 0;     ///< sum of the cross entropies of masked positions
    double mlm_correct = 0;  ///< masked positions whose largest logit is the label's
    double nsp_loss = 0;     ///< sum of the cross entropies of next sentences; 0 in a model without that head
    double nsp_correct = 0;  ///< sequences whose larger logit is the label's
};

/// The four sums as a float64 tensor that passes add to. Copies share the tensor.
class LossSums {
public:
    static constexpr std::int64_t count = 4;

    /// Zeros on the model's device.
    explicit LossSums(at::Device device);
    /// @param sums_4 float64; what is added appears in it
    explicit LossSums(at::Tensor sums_4) : sums_4_(std::move(sums_4)) {}

    /// {loss, correct}, as softmax_cross_entropy() adds to them: views.
    at::Tensor mlm_2() const { return sums_4_.narrow(0, 0, 2); }
    at::Tensor nsp_2() const { return sums_4_.narrow(0, 2, 2); }
    const at::Tensor& tensor() const { return sums_4_; }

    /// Waits for the device.
    LossValues values() const;

private:
    at::Tensor sums_4_;
};

}  // namespace bertpretrain
