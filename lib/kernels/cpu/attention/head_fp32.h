#pragma once
// Attention of one head of one sequence with fp32 matmuls: for fp32, and for bf16 on CPUs without bf16 instructions.

#include "kernels/cpu/attention/head.h"
#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

template <class W>
class Fp32Head {
public:
    using Dtype = W;
    /// @param qkv_T3H of all sequences @param bias_3H fp32, of all heads
    Fp32Head(const HeadPlace& place, const W* qkv_T3H, const float* bias_3H);

    /// Returns an upper bound of the head memory of S positions and D features: quadratic in S up to 1,024, then linear.
    static std::size_t forward_bytes(std::int64_t S, std::int64_t D, std::int64_t window);
    static std::size_t backward_bytes(std::int64_t S, std::int64_t D, std::int64_t window);

    /// Writes the head's columns of the context, and the log-sum-exp of each of its rows of scores (for the backward). Uses up q:
    /// call either this or backward(), once.
    /// @param keep dropout factors of the head's probabilities
    void forward(const KeepRows& keep, W* context_TH, float* log_sum_exp_TN);
    /// Writes the head's columns of d_qkv and adds their column sums to bias_sum_3H, except for the key's third.
    /// @param log_sum_exp_TN from the forward
    void backward(const KeepRows& keep, const W* d_context_TH, const float* log_sum_exp_TN, W* d_qkv_T3H, float* bias_sum_3H);

private:
    /// scores = q k^T / sqrt(D) of a block.
    void scores(const QueryBlock& block, float* scores_QK) const;

    HeadPlace place_;
    HeadMemory<float> q_SD_, k_SD_, v_SD_;
};

extern template class Fp32Head<Bf16>;
extern template class Fp32Head<float>;

}  // namespace bertpretrain::cpu
