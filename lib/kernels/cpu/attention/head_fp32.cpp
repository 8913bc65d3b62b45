#include "kernels/cpu/attention/head_fp32.h"

#include <algorithm>

#include <dlfcn.h>

#include "kernels/cpu/attention/rows.h"

/// From the BLAS inside libtorch.
extern "C" void sgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const float* alpha,
                       const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
                       const int* ldc);

namespace bertpretrain::cpu {
namespace {

constexpr char plain = 'N', transposed = 'T';

/// Limits MKL to the calling thread. In a parallel region MKL uses one thread anyway, but with AVX2 it then sums in a different
/// order than under this limit, so results would depend on the number of threads.
class OneThread {
public:
    OneThread() : before_(limit() != nullptr ? limit()(1) : 0) {}
    ~OneThread() {
        if (limit() != nullptr) limit()(before_);
    }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    using Limit = int (*)(int threads);
    static Limit limit() {  // not every libtorch has MKL
        static const auto found = reinterpret_cast<Limit>(::dlsym(RTLD_DEFAULT, "MKL_Set_Num_Threads_Local"));
        return found;
    }
    int before_;
};

/// Row-major C_mn = op(A) op(B) + beta C. BLAS is column-major, so the operands are swapped.
void gemm(char op_a, char op_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b, float* c,
          float beta = 0) {
    const int rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k);
    const int lda = op_a == plain ? inner : columns, ldb = op_b == plain ? rows : inner;
    const float one = 1;
    const OneThread one_thread;
    sgemm_(&op_b, &op_a, &rows, &columns, &inner, &one, b, &ldb, a, &lda, &beta, c, &rows);
}

/// The most queries of a block. Whole sequences up to 1,024 tokens; memory is linear in longer ones.
std::int64_t block_queries(std::int64_t S, std::int64_t window) {
    if (window > 0) return std::min(S, queries_in_window);
    return S <= 1024 ? S : 256;
}

/// The most keys of a block.
std::int64_t block_keys(std::int64_t S, std::int64_t window) {
    return window > 0 ? std::min(S, queries_in_window + 2 * window) : S;
}

/// Sets the elements of a row of a block that belong to keys outside the query's window to zero.
void clear_outside(float* row, const QueryBlock& block, std::pair<std::int64_t, std::int64_t> keys) {
    std::fill(row, row + (keys.first - block.first_key), 0.0F);
    std::fill(row + (keys.second - block.first_key), row + block.keys(), 0.0F);
}

}  // namespace

/// q is scaled once here, so that neither the scores nor dK = dS^T q need scaling.
template <class W>
Fp32Head<W>::Fp32Head(const HeadPlace& place, const W* qkv_T3H, const float* bias_3H)
    : place_(place),
      q_SD_(head_memory<float>(place.S * place.D)),
      k_SD_(head_memory<float>(place.S * place.D)),
      v_SD_(head_memory<float>(place.S * place.D)) {
    const std::int64_t H = place.hidden;
    const W* row = qkv_T3H + place.in_qkv();
    const float* bias = bias_3H + place.column;
    take_rows(row, 3 * H, bias, place.S, place.D, place.scaling(), q_SD_.get());
    take_rows(row + H, 3 * H, bias + H, place.S, place.D, 1.0F, k_SD_.get());
    take_rows(row + 2 * H, 3 * H, bias + 2 * H, place.S, place.D, 1.0F, v_SD_.get());
}

template <class W>
std::size_t Fp32Head<W>::forward_bytes(std::int64_t S, std::int64_t D, std::int64_t window) {
    constexpr std::size_t blocks = 5;  // each may be rounded up
    const std::int64_t scores = block_queries(S, window) * block_keys(S, window);
    return static_cast<std::size_t>(KeepRows::elements(S) + 3 * S * D + scores) * sizeof(float) + blocks * head_memory_of(1);
}

template <class W>
std::size_t Fp32Head<W>::backward_bytes(std::int64_t S, std::int64_t D, std::int64_t window) {
    constexpr std::size_t blocks = 10;
    const std::int64_t queries = block_queries(S, window), scores = queries * block_keys(S, window);
    return static_cast<std::size_t>(KeepRows::elements(S) + 6 * S * D + queries * D + 2 * scores) * sizeof(float) +
           blocks * head_memory_of(1);
}

template <class W>
void Fp32Head<W>::scores(const QueryBlock& block, float* scores_QK) const {
    const std::int64_t D = place_.D;
    gemm(plain, transposed, block.queries(), block.keys(), D, q_SD_.get() + block.first * D, k_SD_.get() + block.first_key * D,
         scores_QK);
}

template <class W>
void Fp32Head<W>::forward(const KeepRows& keep, W* context_TH, float* log_sum_exp_TN) {
    const std::int64_t S = place_.S, D = place_.D, most = block_queries(S, place_.window);
    const auto scores_QK = head_memory<float>(most * block_keys(S, place_.window));
    for (std::int64_t first = 0; first < S; first += most) {
        const QueryBlock block(place_, first, most);
        scores(block, scores_QK.get());
        for (std::int64_t s = block.first; s < block.end; ++s) {
            float* const row = scores_QK.get() + (s - block.first) * block.keys();
            const auto keys = place_.keys_of(s);
            clear_outside(row, block, keys);
            log_sum_exp_TN[place_.in_rows_of_heads(s)] =
                softmax_row(row + (keys.first - block.first_key), keep.row(s, keys.first), keys.second - keys.first);
        }
        float* context_QD = q_SD_.get() + first * D;  // these queries are no longer needed
        gemm(plain, plain, block.queries(), D, block.keys(), scores_QK.get(), v_SD_.get() + block.first_key * D, context_QD);
    }
    put_rows(q_SD_.get(), S, D, 1.0F, context_TH + place_.in_context(), place_.hidden);
}

template <class W>
void Fp32Head<W>::backward(const KeepRows& keep, const W* d_context_TH, const float* log_sum_exp_TN, W* d_qkv_T3H,
                           float* bias_sum_3H) {
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden, most = block_queries(S, place_.window),
                       most_scores = most * block_keys(S, place_.window);
    const auto d_context_SD = head_memory<float>(S * D), d_keys_SD = head_memory<float>(S * D),
               d_values_SD = head_memory<float>(S * D), d_queries_QD = head_memory<float>(most * D),
               scores_QK = head_memory<float>(most_scores), d_scores_QK = head_memory<float>(most_scores);
    take_rows(d_context_TH + place_.in_context(), place_.hidden, nullptr, S, D, 1.0F, d_context_SD.get());
    const float beta = most < S ? 1 : 0;  // whether several blocks are added up
    if (beta != 0) std::fill_n(d_keys_SD.get(), S * D, 0.0F), std::fill_n(d_values_SD.get(), S * D, 0.0F);
    W* d_row = d_qkv_T3H + place_.in_qkv();
    float* bias_sum = bias_sum_3H + place_.column;
    for (std::int64_t first = 0; first < S; first += most) {
        const QueryBlock block(place_, first, most);
        const std::int64_t Q = block.queries(), K = block.keys();
        const float* const d_context_QD = d_context_SD.get() + first * D;
        scores(block, scores_QK.get());
        gemm(plain, transposed, Q, K, D, d_context_QD, v_SD_.get() + block.first_key * D, d_scores_QK.get());
        for (std::int64_t s = block.first; s < block.end; ++s) {
            const auto keys = place_.keys_of(s);
            float *const row = scores_QK.get() + (s - first) * K, *const d_scores = d_scores_QK.get() + (s - first) * K;
            clear_outside(row, block, keys);
            clear_outside(d_scores, block, keys);
            const std::int64_t begin = keys.first - block.first_key;
            softmax_backward_row(row + begin, log_sum_exp_TN[place_.in_rows_of_heads(s)], keep.row(s, keys.first),
                                 keys.second - keys.first, d_scores + begin);
        }
        gemm(plain, plain, Q, D, K, d_scores_QK.get(), k_SD_.get() + block.first_key * D, d_queries_QD.get());
        put_rows(d_queries_QD.get(), Q, D, place_.scaling(), d_row + first * 3 * H, 3 * H);
        add_column_sums(d_queries_QD.get(), Q, D, place_.scaling(), bias_sum);
        gemm(transposed, plain, K, D, Q, d_scores_QK.get(), q_SD_.get() + first * D, d_keys_SD.get() + block.first_key * D, beta);
        gemm(transposed, plain, K, D, Q, scores_QK.get(), d_context_QD, d_values_SD.get() + block.first_key * D, beta);
    }
    put_rows(d_keys_SD.get(), S, D, 1.0F, d_row + H, 3 * H);
    put_rows(d_values_SD.get(), S, D, 1.0F, d_row + 2 * H, 3 * H);
    add_column_sums(d_values_SD.get(), S, D, 1.0F, bias_sum + 2 * H);
}

template class Fp32Head<Bf16>;
template class Fp32Head<float>;

}  // namespace bertpretrain::cpu
