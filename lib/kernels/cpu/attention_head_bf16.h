#pragma once
// One head of one sequence with bf16 products accumulated in fp32.
//
// q, k, v and the context's gradient are multiplied as the neighbouring products left them, and biases enter behind as fp32
// terms of rank 1: with q = q0 + bq and so on, q k^T = q0 k0^T + q bk (per row) + bq k0 (per column). So only probabilities and
// the gradients of scores are rounded to bf16, as they are in autocast; the biases' gradients are sums of them before rounding,
// since much of what is summed there cancels.

#include "kernels/cpu/attention_place.h"
#include "kernels/cpu/bf16_small_matmul.h"

namespace bertpretrain::cpu {

/// The interface of Fp32Head. Rows of scores are filled up to whole vectors or tiles with numbers that meet zeros
/// in every product.
class Bf16Head {
public:
    using Working = Bf16;
    static bool can(std::int64_t D) { return has_bf16_matmul() && D % (2 * pair_lanes) == 0; }

    Bf16Head(const HeadPlace& place, const Bf16* qkv_T3H, const float* bias_3H);

    std::int64_t score_row() const { return filled_; }
    void scores(float* scores_SS) const;
    void put_context(const float* probabilities_SS, Bf16* context_TH);
    void d_probabilities(const Bf16* d_context_TH, float* d_probabilities_SS);
    void put_gradients(const float* probabilities_SS, const float* d_scores_SS, Bf16* d_qkv_T3H, float* bias_sum_3H);

private:
    /// rows_SD^T in pairs along D, (D / 2) x filled S
    HeadMemory<Pair> transposed(const Bf16* rows) const;

    HeadPlace place_;
    std::int64_t filled_;      ///< S rounded up
    std::int64_t stride_;      ///< between rows of qkv
    const Bf16 *q_, *k_, *v_;  ///< the head's first rows, without biases
    const float *q_bias_, *k_bias_, *v_bias_;
    const Bf16* d_context_ = nullptr;
};

}  // namespace bertpretrain::cpu
