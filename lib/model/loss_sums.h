#pragma once
// Sums of losses and of correct predictions over batches.

#include <cstddef>
#include <cstdint>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

struct LossValues {
    double mlm_loss = 0;     ///< sum of the cross entropies of masked positions
    double mlm_correct = 0;  ///< masked positions whose largest logit is the label's
    double nsp_loss = 0;     ///< sum of the cross entropies of next sentences; 0 in a model without that head
    double nsp_correct = 0;  ///< sequences whose larger logit is the label's
};

/// Factors of the loss sums before differentiation.
struct LossScale {
    double mlm = 0;  ///< 1 / masked positions of the global batch, for the mean over them
    double nsp = 0;  ///< 1 / sequences of the global batch
};

/// The four sums as a float64 tensor that passes add to; with several sources, four of each. Copies share the tensor.
class LossSums {
public:
    static constexpr std::int64_t count = 4;

    /// Zeros on the model's device.
    explicit LossSums(at::Device device, std::size_t sources = 1);
    /// @param sums float64, of shape {4} or {sources, 4}; what is added appears in it
    explicit LossSums(at::Tensor sums) : sums_S4_(sums.view({-1, count})) {}

    /// {loss, correct} of a source, as softmax_cross_entropy() adds to them: views.
    at::Tensor mlm_2(std::size_t source = 0) const { return of(source).narrow(0, 0, 2); }
    at::Tensor nsp_2(std::size_t source = 0) const { return of(source).narrow(0, 2, 2); }
    /// Of shape {sources, 4}.
    const at::Tensor& tensor() const { return sums_S4_; }

    /// Waits for the device.
    LossValues values(std::size_t source = 0) const;

private:
    at::Tensor of(std::size_t source) const { return sums_S4_.select(0, static_cast<std::int64_t>(source)); }

    at::Tensor sums_S4_;
};

}  // namespace bertpretrain
