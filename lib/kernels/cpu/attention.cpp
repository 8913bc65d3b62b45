// Attention over ragged sequences: one thread works on one head of one sequence, in fp32, and nothing of size S x S leaves it.
#include <cmath>
#include <memory>

#include <ATen/ATen.h>

#include "kernels/cpu/attention_rows.h"
#include "kernels/cpu/dropout_factors.h"
#include "kernels/cpu/row_chunks.h"
#include "kernels/implementations.h"

/// The BLAS inside libtorch; called from within a parallel region it stays on the calling thread.
extern "C" void sgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const float* alpha,
                       const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
                       const int* ldc);

namespace bertpretrain::cpu {
namespace {

constexpr char plain = 'N', transposed = 'T';

/// Row-major C_mn = op(A) op(B). BLAS is column-major, which is the same product with its operands swapped.
void product(char op_a, char op_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b, float* c) {
    const int rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k);
    const int lda = op_a == plain ? inner : columns, ldb = op_b == plain ? rows : inner;
    const float one = 1, zero = 0;
    sgemm_(&op_b, &op_a, &rows, &columns, &inner, &one, b, &ldb, a, &lda, &zero, c, &rows);
}

/// One head of one sequence: S positions, D features, and buffers for both directions.
struct Head {
    std::int64_t S, D, stride, column;  ///< qkv's row length 3H; first column of the head within a third
    std::int64_t first_row;
    std::unique_ptr<float[]> q_SD, k_SD, v_SD, scores_SS, keep_S;

    Head(const Attention& shape, std::int64_t hidden, std::int64_t sequence, std::int64_t head)
        : S(shape.starts_B1[static_cast<std::size_t>(sequence) + 1] - shape.starts_B1[static_cast<std::size_t>(sequence)]),
          D(hidden / shape.heads),
          stride(3 * hidden),
          column(head * D),
          first_row(shape.starts_B1[static_cast<std::size_t>(sequence)]),
          q_SD(room(S * D)),
          k_SD(room(S * D)),
          v_SD(room(S * D)),
          scores_SS(room(S * S)),
          keep_S(room(S + 128)) {}

    static std::unique_ptr<float[]> room(std::int64_t floats) {
        return std::unique_ptr<float[]>(new float[static_cast<std::size_t>(floats)]);
    }
    float scaling() const { return 1.0F / std::sqrt(static_cast<float>(D)); }

    /// q is scaled here once, so that scores need no scaling and dK = dS^T q as it stands.
    template <class W>
    void take(const W* qkv, const float* bias) {
        const std::int64_t third = stride / 3;
        const W* row = qkv + first_row * stride + column;
        take_rows(row, stride, bias + column, S, D, scaling(), q_SD.get());
        take_rows(row + third, stride, bias + third + column, S, D, 1.0F, k_SD.get());
        take_rows(row + 2 * third, stride, bias + 2 * third + column, S, D, 1.0F, v_SD.get());
        product(plain, transposed, S, S, D, q_SD.get(), k_SD.get(), scores_SS.get());
    }

    const float* dropout_row(const Attention& shape, std::int64_t sequence, std::int64_t head, std::int64_t position) const {
        if (!shape.dropout.active()) return nullptr;
        fill_dropout_factors(shape.dropout, static_cast<std::uint64_t>(shape.samples_B[static_cast<std::size_t>(sequence)]),
                             static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(head) * attention_groups_per_head,
                             S, keep_S.get());
        return keep_S.get();
    }
};

/// body(sequence, head) for all heads of all sequences, in parallel.
template <class Body>
void for_heads(const Attention& shape, const Body& body) {
    const auto sequences = static_cast<std::int64_t>(shape.samples_B.size());
    at::parallel_for(0, sequences * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) body(i / shape.heads, i % shape.heads);
    });
}

void zero_rows_of_no_sequence(const at::Tensor& rows_TX, const Attention& shape) {
    rows_TX.narrow(0, shape.starts_B1.back(), rows_TX.size(0) - shape.starts_B1.back()).zero_();
}

}  // namespace

AttentionResult attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    const std::int64_t T = qkv_T3H.size(0), H = qkv_T3H.size(1) / 3;
    AttentionResult result{at::empty({T, H}, qkv_T3H.scalar_type()), at::empty({T, shape.heads}, at::kFloat)};
    zero_rows_of_no_sequence(result.context_TH, shape);
    with_working_type(qkv_T3H.scalar_type(), [&](auto w) {
        using W = decltype(w);
        for_heads(shape, [&](std::int64_t sequence, std::int64_t head) {
            Head at(shape, H, sequence, head);
            at.take(working_data<W>(qkv_T3H), exact_data(bias_3H));
            float* log_sum_exp = exact_data(result.log_sum_exp_TN) + at.first_row * shape.heads + head;
            for (std::int64_t i = 0; i < at.S; ++i)
                log_sum_exp[i * shape.heads] =
                    softmax_row(at.scores_SS.get() + i * at.S, at.dropout_row(shape, sequence, head, i), at.S);
            float* context_SD = at.q_SD.get();  // q is not needed any more
            product(plain, plain, at.S, at.D, at.S, at.scores_SS.get(), at.v_SD.get(), context_SD);
            put_rows(context_SD, at.S, at.D, 1.0F, working_data<W>(result.context_TH) + at.first_row * H + at.column, H);
        });
    });
    return result;
}

at::Tensor attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                              const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    const std::int64_t H = qkv_T3H.size(1) / 3;
    at::Tensor d_qkv_T3H = at::empty_like(qkv_T3H);
    zero_rows_of_no_sequence(d_qkv_T3H, shape);
    const at::Tensor bias_sums_B3H = at::zeros({static_cast<std::int64_t>(shape.samples_B.size()), 3 * H}, at::kFloat);
    with_working_type(qkv_T3H.scalar_type(), [&](auto w) {
        using W = decltype(w);
        for_heads(shape, [&](std::int64_t sequence, std::int64_t head) {
            Head at(shape, H, sequence, head);
            at.take(working_data<W>(qkv_T3H), exact_data(bias_3H));
            const auto d_context_SD = Head::room(at.S * at.D), d_scores_SS = Head::room(at.S * at.S),
                       d_SD = Head::room(at.S * at.D);
            take_rows(working_data<W>(d_context_TH) + at.first_row * H + at.column, H, nullptr, at.S, at.D, 1.0F,
                      d_context_SD.get());
            product(plain, transposed, at.S, at.S, at.D, d_context_SD.get(), at.v_SD.get(), d_scores_SS.get());
            const float* log_sum_exp = exact_data(forward.log_sum_exp_TN) + at.first_row * shape.heads + head;
            for (std::int64_t i = 0; i < at.S; ++i)
                softmax_backward_row(at.scores_SS.get() + i * at.S, log_sum_exp[i * shape.heads],
                                     at.dropout_row(shape, sequence, head, i), at.S, d_scores_SS.get() + i * at.S);
            W* d_row = working_data<W>(d_qkv_T3H) + at.first_row * 3 * H + at.column;
            float* bias_sum = exact_data(bias_sums_B3H) + sequence * 3 * H + at.column;
            product(plain, plain, at.S, at.D, at.S, d_scores_SS.get(), at.k_SD.get(), d_SD.get());
            put_rows(d_SD.get(), at.S, at.D, at.scaling(), d_row, 3 * H);
            add_column_sums(d_SD.get(), at.S, at.D, at.scaling(), bias_sum);
            product(transposed, plain, at.S, at.D, at.S, d_scores_SS.get(), at.q_SD.get(), d_SD.get());
            put_rows(d_SD.get(), at.S, at.D, 1.0F, d_row + H, 3 * H);
            product(transposed, plain, at.S, at.D, at.S, at.scores_SS.get(), d_context_SD.get(), d_SD.get());
            put_rows(d_SD.get(), at.S, at.D, 1.0F, d_row + 2 * H, 3 * H);
            add_column_sums(d_SD.get(), at.S, at.D, 1.0F, bias_sum + 2 * H);
        });
    });
    float* d_bias = exact_data(d_bias_3H);
    for (std::int64_t b = 0; b < bias_sums_B3H.size(0); ++b)
        for (std::int64_t i = 0; i < 3 * H; ++i) d_bias[i] += exact_data(bias_sums_B3H)[b * 3 * H + i];
    return d_qkv_T3H;
}

}  // namespace bertpretrain::cpu
