#include "kernels/cpu/attention_head_bf16.h"

#include <algorithm>

#include "kernels/cpu/amx_small_matmul.h"
#include "kernels/cpu/attention_rows.h"

namespace bertpretrain::cpu {
namespace {

using Floats = HeadMemory<float>;
constexpr std::int64_t bf16_parts = 3;  ///< bf16 numbers that add up to an fp32 number: 3 x 8 bits

/// bf16 rows as the left operand of a matmul, without a copy.
PairedRows in_place(const Bf16* rows, std::int64_t stride) { return {rows, stride / 2, 1}; }

/// An fp32 vector_D as the right operand of a matmul: three columns hold bf16 parts that add up to it, the other columns are
/// zero.
HeadMemory<Pair> columns_of(const float* vector_D, std::int64_t D) {
    auto pairs = head_memory<Pair>(D / 2 * pair_lanes);
    std::fill_n(pairs.get(), D / 2 * pair_lanes, Pair{0});
    for (std::int64_t d = 0; d < D; ++d) {
        float rest = vector_D[d];
        for (std::int64_t part = 0; part < bf16_parts; ++part) {
            Bf16 rounded;
            store(&rounded, rest);
            rest -= load(&rounded);
            pairs.get()[d / 2 * pair_lanes + part] |= Pair{rounded.bits} << (d % 2 * 16);
        }
    }
    return pairs;
}

/// dots_S = rows_SD vector_D + start, without a horizontal vector sum per row.
void row_dots(const Bf16* rows, std::int64_t stride, std::int64_t S, std::int64_t D, const float* vector_D, float start,
              float* dots_S) {
    const Floats parts = head_memory<float>(S * pair_lanes);
    bf16_small_matmul(S, pair_lanes, D / 2, in_place(rows, stride), columns_of(vector_D, D).get(), {}, parts.get());
    for (std::int64_t s = 0; s < S; ++s) {
        const float* const of_row = parts.get() + s * pair_lanes;
        dots_S[s] = of_row[0] + of_row[1] + of_row[2] + start;
    }
}

/// Pairs rows 2 p and 2 p + 1, for `filled` rows, of which those from S on are zeros.
template <class W>
HeadMemory<Pair> paired_rows(const W* rows, std::int64_t stride, std::int64_t S, std::int64_t filled, std::int64_t D) {
    auto pairs = head_memory<Pair>(filled / 2 * D);
    for (std::int64_t p = 0; p < filled / 2; ++p) {
        Pair* to = pairs.get() + p * D;
        if (2 * p < S) pair_across_rows(rows + 2 * p * stride, 2 * p + 1 < S ? rows + (2 * p + 1) * stride : nullptr, D, to);
        else std::fill_n(to, D, Pair{0});
    }
    return pairs;
}

/// Rounds S up to whole vectors of scores, or to whole tiles of their pairs.
std::int64_t filled_up(std::int64_t S) {
    const std::int64_t multiple = has_amx() ? 2 * tile_lanes : pair_lanes;
    return (S + multiple - 1) / multiple * multiple;
}

HeadMemory<Pair> rounded_rows(const float* rows_SX, std::int64_t S, std::int64_t X) {
    auto pairs = head_memory<Pair>(S * X / 2);
    pair_along_row(rows_SX, S * X, pairs.get());
    return pairs;
}

}  // namespace

Bf16Head::Bf16Head(const HeadPlace& place, const Bf16* qkv_T3H, const float* bias_3H)
    : place_(place),
      filled_(filled_up(place.S)),
      stride_(3 * place.hidden),
      q_(qkv_T3H + place.in_qkv()),
      k_(q_ + place.hidden),
      v_(k_ + place.hidden),
      q_bias_(bias_3H + place.column),
      k_bias_(q_bias_ + place.hidden),
      v_bias_(k_bias_ + place.hidden) {}

HeadMemory<Pair> Bf16Head::transposed(const Bf16* rows) const {
    auto pairs_PX = head_memory<Pair>(filled_ * place_.D / 2);
    transpose_pairs(rows, stride_ / 2, place_.S, place_.D / 2, filled_, pairs_PX.get());
    return pairs_PX;
}

void Bf16Head::scores(float* scores_SS) const {
    const std::int64_t S = place_.S, D = place_.D;
    const Floats of_query_S = head_memory<float>(S), of_key_X = head_memory<float>(filled_);
    const float both = dot(q_bias_, k_bias_, D);
    row_dots(q_, stride_, S, D, k_bias_, both, of_query_S.get());
    row_dots(k_, stride_, S, D, q_bias_, 0, of_key_X.get());
    std::fill_n(of_key_X.get() + S, filled_ - S, no_score);
    bf16_small_matmul(S, filled_, D / 2, in_place(q_, stride_), transposed(k_).get(),
                      {of_query_S.get(), of_key_X.get(), place_.scaling()}, scores_SS);
}

void Bf16Head::put_context(const float* probabilities_SS, Bf16* context_TH) {
    const std::int64_t S = place_.S, D = place_.D, P = filled_ / 2;
    const Floats sums_S = head_memory<float>(S), context_SD = head_memory<float>(S * D);
    row_sums(probabilities_SS, filled_, S, S, sums_S.get());
    bf16_small_matmul(S, D, P, {rounded_rows(probabilities_SS, S, filled_).get(), P, 1},
                      paired_rows(v_, stride_, S, filled_, D).get(), {}, context_SD.get());
    add_scaled_row(sums_S.get(), v_bias_, S, D, context_SD.get());
    put_rows(context_SD.get(), S, D, 1.0F, context_TH + place_.in_context(), place_.hidden);
}

void Bf16Head::d_probabilities(const Bf16* d_context_TH, float* d_probabilities_SS) {
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden;
    d_context_ = d_context_TH + place_.in_context();
    const Floats through_bias_S = head_memory<float>(S);
    row_dots(d_context_, H, S, D, v_bias_, 0, through_bias_S.get());
    bf16_small_matmul(S, filled_, D / 2, in_place(d_context_, H), transposed(v_).get(), {through_bias_S.get(), nullptr, 1},
                      d_probabilities_SS);
}

void Bf16Head::put_gradients(const float* probabilities_SS, const float* d_scores_SS, Bf16* d_qkv_T3H, float* bias_sum_3H) {
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden, P = filled_ / 2;
    const Floats d_SD = head_memory<float>(S * D), of_query_S = head_memory<float>(S), of_key_X = head_memory<float>(filled_);
    Bf16* d_row = d_qkv_T3H + place_.in_qkv();
    float* bias_sum = bias_sum_3H + place_.column;

    // Each row of d_scores sums to zero, so the key's bias does not affect dq.
    std::fill_n(of_key_X.get(), filled_, 0.0F);
    add_column_sums(d_scores_SS, S, filled_, 1.0F, of_key_X.get());
    bf16_small_matmul(S, D, P, {rounded_rows(d_scores_SS, S, filled_).get(), P, 1}, paired_rows(k_, stride_, S, filled_, D).get(),
                      {}, d_SD.get());
    put_rows(d_SD.get(), S, D, place_.scaling(), d_row, 3 * H);
    add_weighted_rows(of_key_X.get(), k_, stride_, S, D, place_.scaling(), bias_sum);

    bf16_small_matmul(S, D, P, {paired_rows(d_scores_SS, filled_, S, filled_, filled_).get(), 1, filled_},
                      paired_rows(q_, stride_, S, filled_, D).get(), {}, d_SD.get());
    add_scaled_row(of_key_X.get(), q_bias_, S, D, d_SD.get());
    put_rows(d_SD.get(), S, D, place_.scaling(), d_row + H, 3 * H);

    row_sums(probabilities_SS, filled_, S, S, of_query_S.get());
    bf16_small_matmul(S, D, P, {paired_rows(probabilities_SS, filled_, S, filled_, filled_).get(), 1, filled_},
                      paired_rows(d_context_, H, S, filled_, D).get(), {}, d_SD.get());
    put_rows(d_SD.get(), S, D, 1.0F, d_row + 2 * H, 3 * H);
    add_weighted_rows(of_query_S.get(), d_context_, H, S, D, 1.0F, bias_sum + 2 * H);
}

}  // namespace bertpretrain::cpu
