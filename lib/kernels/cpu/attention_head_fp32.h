#pragma once
// Attention of one head of one sequence with fp32 matmuls: for fp32, and for bf16 on CPUs without bf16 instructions.

#include "kernels/cpu/attention_place.h"
#include "kernels/cpu/attention_rows.h"

namespace bertpretrain::cpu {

template <class W>
class Fp32Head {
public:
    using Dtype = W;
    /// @param qkv_T3H of all sequences @param bias_3H fp32, of all heads
    Fp32Head(const HeadPlace& place, const W* qkv_T3H, const float* bias_3H);

    std::int64_t score_row() const { return place_.S; }
    /// scores = q k^T / sqrt(D), up to a constant per row, which softmax ignores
    void scores(float* scores_SS) const;
    /// context = probabilities v
    void put_context(const float* probabilities_SS, W* context_TH);
    /// d_probabilities = d_context v^T
    void d_probabilities(const W* d_context_TH, float* d_probabilities_SS);
    /// Writes the head's columns of d_qkv and adds their column sums to bias_sum_3H, except for the key's third.
    void put_gradients(const float* probabilities_SS, const float* d_scores_SS, W* d_qkv_T3H, float* bias_sum_3H);

private:
    HeadPlace place_;
    HeadMemory<float> q_SD_, k_SD_, v_SD_, d_context_SD_;
};

extern template class Fp32Head<Bf16>;
extern template class Fp32Head<float>;

}  // namespace bertpretrain::cpu
