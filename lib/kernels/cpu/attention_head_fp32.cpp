#include "kernels/cpu/attention_head_fp32.h"

#include <dlfcn.h>

#include "kernels/cpu/attention_rows.h"

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

/// Row-major C_mn = op(A) op(B). BLAS is column-major, so the operands are swapped.
void gemm(char op_a, char op_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b, float* c) {
    const int rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k);
    const int lda = op_a == plain ? inner : columns, ldb = op_b == plain ? rows : inner;
    const float one = 1, zero = 0;
    const OneThread one_thread;
    sgemm_(&op_b, &op_a, &rows, &columns, &inner, &one, b, &ldb, a, &lda, &zero, c, &rows);
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
std::size_t Fp32Head<W>::forward_bytes(std::int64_t S, std::int64_t D) {
    constexpr std::size_t blocks = 5;  // each may be rounded up
    return static_cast<std::size_t>(KeepRows::elements(S) + 3 * S * D + S * S) * sizeof(float) + blocks * head_memory_of(1);
}

template <class W>
std::size_t Fp32Head<W>::backward_bytes(std::int64_t S, std::int64_t D) {
    constexpr std::size_t blocks = 8;
    return static_cast<std::size_t>(KeepRows::elements(S) + 5 * S * D + 2 * S * S) * sizeof(float) + blocks * head_memory_of(1);
}

template <class W>
HeadMemory<float> Fp32Head<W>::scores() const {
    auto scores_SS = head_memory<float>(place_.S * place_.S);
    gemm(plain, transposed, place_.S, place_.S, place_.D, q_SD_.get(), k_SD_.get(), scores_SS.get());
    return scores_SS;
}

template <class W>
void Fp32Head<W>::forward(const KeepRows& keep, W* context_TH, float* log_sum_exp_TN) {
    const std::int64_t S = place_.S, D = place_.D;
    const HeadMemory<float> scores_SS = scores();
    for (std::int64_t s = 0; s < S; ++s)
        log_sum_exp_TN[place_.in_rows_of_heads(s)] = softmax_row(scores_SS.get() + s * S, keep.row(s), S);
    float* context_SD = q_SD_.get();  // q is no longer needed
    gemm(plain, plain, S, D, S, scores_SS.get(), v_SD_.get(), context_SD);
    put_rows(context_SD, S, D, 1.0F, context_TH + place_.in_context(), place_.hidden);
}

template <class W>
void Fp32Head<W>::backward(const KeepRows& keep, const W* d_context_TH, const float* log_sum_exp_TN, W* d_qkv_T3H,
                           float* bias_sum_3H) {
    const std::int64_t S = place_.S, D = place_.D;
    const auto d_context_SD = head_memory<float>(S * D), d_scores_SS = head_memory<float>(S * S);
    take_rows(d_context_TH + place_.in_context(), place_.hidden, nullptr, S, D, 1.0F, d_context_SD.get());
    const HeadMemory<float> scores_SS = scores();
    gemm(plain, transposed, S, S, D, d_context_SD.get(), v_SD_.get(), d_scores_SS.get());
    for (std::int64_t s = 0; s < S; ++s)
        softmax_backward_row(scores_SS.get() + s * S, log_sum_exp_TN[place_.in_rows_of_heads(s)], keep.row(s), S,
                             d_scores_SS.get() + s * S);
    put_gradients(scores_SS.get(), d_scores_SS.get(), d_context_SD.get(), d_qkv_T3H, bias_sum_3H);
}

template <class W>
void Fp32Head<W>::put_gradients(const float* probabilities_SS, const float* d_scores_SS, const float* d_context_SD, W* d_qkv_T3H,
                                float* bias_sum_3H) const {
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden;
    const auto memory_SD = head_memory<float>(S * D);
    float* d_SD = memory_SD.get();
    W* d_row = d_qkv_T3H + place_.in_qkv();
    float* bias_sum = bias_sum_3H + place_.column;
    gemm(plain, plain, S, D, S, d_scores_SS, k_SD_.get(), d_SD);
    put_rows(d_SD, S, D, place_.scaling(), d_row, 3 * H);
    add_column_sums(d_SD, S, D, place_.scaling(), bias_sum);
    gemm(transposed, plain, S, D, S, d_scores_SS, q_SD_.get(), d_SD);
    put_rows(d_SD, S, D, 1.0F, d_row + H, 3 * H);
    gemm(transposed, plain, S, D, S, probabilities_SS, d_context_SD, d_SD);
    put_rows(d_SD, S, D, 1.0F, d_row + 2 * H, 3 * H);
    add_column_sums(d_SD, S, D, 1.0F, bias_sum + 2 * H);
}

template class Fp32Head<Bf16>;
template class Fp32Head<float>;

}  // namespace bertpretrain::cpu
