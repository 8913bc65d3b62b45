#pragma once
// Attention of one head of one sequence with bf16 matmuls accumulated in fp32.
//
// q, k, v and the context's gradient enter the matmuls as the neighbouring GEMMs produced them. Biases are added afterwards as
// fp32 rank-1 terms: with q = q0 + bq and so on, q k^T = q0 k0^T + q bk (per row) + bq k0 (per column). So only probabilities
// and score gradients are rounded to bf16, as with autocast. The bias gradients are summed before this rounding, because much
// of the sum cancels.
//
// A few rows of scores are computed at a time, so that they stay in the first-level cache until they are probabilities.

#include "kernels/cpu/attention/bf16_small_matmul.h"
#include "kernels/cpu/attention/bf16_softmax.h"
#include "kernels/cpu/attention/head.h"

namespace bertpretrain::cpu {

/// Same interface as Fp32Head. Rows of scores are padded to whole vectors or tiles; every matmul multiplies the padding by
/// zeros.
class Bf16Head {
public:
    using Dtype = Bf16;
    static bool can(std::int64_t D) { return has_bf16_matmul() && D % (2 * pair_lanes) == 0; }

    Bf16Head(const HeadPlace& place, const Bf16* qkv_T3H, const float* bias_3H);

    /// Returns an upper bound of the head memory of S positions and D features: linear in S beyond 512.
    static std::size_t forward_bytes(std::int64_t S, std::int64_t D, std::int64_t window);
    static std::size_t backward_bytes(std::int64_t S, std::int64_t D, std::int64_t window);

    void forward(const KeepRows& keep, Bf16* context_TH, float* log_sum_exp_TN) const;
    void backward(const KeepRows& keep, const Bf16* d_context_TH, const float* log_sum_exp_TN, Bf16* d_qkv_T3H,
                  float* bias_sum_3H) const;

private:
    /// Where the backward reads and writes.
    struct BackwardRows {
        const Bf16* d_context;  ///< the head's first row
        const float* log_sum_exp_TN;
        Bf16* d_qkv;             ///< likewise, of d_q
        float* kept_S;           ///< receives the sums over each row's probabilities
        float* d_keys_SD;        ///< added to, without the query's bias and unscaled
        float* d_values_SD;      ///< added to
        float* d_scores_sums_S;  ///< added to: sums over each column of d_scores
    };
    void forward(const QueryBlock& block, const KeepRows& keep, Bf16* context_TH, float* log_sum_exp_TN) const;
    void backward(const QueryBlock& block, const KeepRows& keep, const BackwardRows& rows) const;

    /// Fetches row s of what the next head reads, which lies beside this head's.
    void fetch_next_head(std::int64_t s) const;
    /// Returns a right operand of K rows (of k or v) as columns with padding to X, then the bf16 parts of the vector, so that one
    /// matmul also multiplies by the vector.
    HeadMemory<Pair> transposed(const Bf16* rows_KD, std::int64_t K, std::int64_t X, const float* vector_D) const;
    /// Returns the query's bias times each column of transposed(k, the key's bias).
    HeadMemory<float> column_starts(const Pair* keys_PC, std::int64_t C) const;
    /// Sets the numbers of keys that the queries from `first` on do not attend to.
    void fill_outside(const QueryBlock& block, std::int64_t first, std::int64_t rows, std::int64_t C, float number,
                      float* sums_QC) const;

    HeadPlace place_;
    std::int64_t stride_;      ///< between rows of qkv
    const Bf16 *q_, *k_, *v_;  ///< the head's first rows, without the biases
    const float *q_bias_, *k_bias_, *v_bias_;
};

}  // namespace bertpretrain::cpu
