#pragma once
// Attention of one head of one sequence with bf16 matmuls accumulated in fp32.
//
// q, k, v and the context's gradient enter the matmuls as the neighbouring GEMMs produced them. Biases are added afterwards as
// fp32 rank-1 terms: with q = q0 + bq and so on, q k^T = q0 k0^T + q bk (per row) + bq k0 (per column). So only probabilities
// and score gradients are rounded to bf16, as with autocast. The bias gradients are summed before this rounding, because much
// of the sum cancels.

#include "kernels/cpu/attention_place.h"
#include "kernels/cpu/bf16_small_matmul.h"

namespace bertpretrain::cpu {

/// Same interface as Fp32Head. Rows of scores are padded to whole vectors or tiles; every matmul multiplies the padding by
/// zeros.
class Bf16Head {
public:
    using Dtype = Bf16;
    static bool can(std::int64_t D) { return has_bf16_matmul() && D % (2 * pair_lanes) == 0; }

    Bf16Head(const HeadPlace& place, const Bf16* qkv_T3H, const float* bias_3H);

    std::int64_t score_row() const { return filled_; }
    void scores(float* scores_SS) const;
    void put_context(const float* probabilities_SS, Bf16* context_TH);
    void d_probabilities(const Bf16* d_context_TH, float* d_probabilities_SS);
    void put_gradients(const float* probabilities_SS, const float* d_scores_SS, Bf16* d_qkv_T3H, float* bias_sum_3H);

private:
    /// Returns rows_SD^T as pairs along D: (D / 2) x padded S.
    HeadMemory<Pair> transposed(const Bf16* rows) const;

    HeadPlace place_;
    std::int64_t filled_;      ///< S with padding
    std::int64_t stride_;      ///< between rows of qkv
    const Bf16 *q_, *k_, *v_;  ///< the head's first rows, without the biases
    const float *q_bias_, *k_bias_, *v_bias_;
    const Bf16* d_context_ = nullptr;
};

}  // namespace bertpretrain::cpu
