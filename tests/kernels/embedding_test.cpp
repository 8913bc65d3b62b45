#include <ATen/Parallel.h>

#include "kernels/kernel_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("embedding rows are summed exactly, and gradients go back to the rows they came from") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::int64_t H : {40, 101, 136}) {
            RandomTensors random(static_cast<std::uint64_t>(H));
            const std::int64_t T = 75;
            const at::Tensor ids_T = random.below(11, T), positions_T = random.below(64, T), types_T = random.below(2, T);
            const at::Tensor word_VH = random.normal({11, H}, compute_dtype), position_PH = random.normal({64, H}, compute_dtype),
                             type_KH = random.normal({2, H}, compute_dtype), d_sum_TH = random.normal({T, H}),
                             before_VH = random.normal({11, H});
            const at::Tensor word = leaf(word_VH);
            const at::Tensor sum = at::embedding(word, ids_T) + at::embedding(position_PH.to(at::kDouble), positions_T) +
                                   at::embedding(type_KH.to(at::kDouble), types_T);
            (sum * d_sum_TH.to(at::kDouble)).sum().backward();
            for (const Operations& operations : both_implementations) {
                CAPTURE(operations.name, compute_dtype, H);
                const at::Tensor sum_TH = operations.embedding_sum(ids_T, positions_T, types_T, word_VH, position_PH, type_KH);
                CHECK(sum_TH.scalar_type() == at::kFloat);
                CHECK_ROUNDED(sum_TH, sum.detach());
                CHECK(same_bits(operations.embedding_sum(ids_T, positions_T, types_T, word_VH, {}, {}),
                                at::embedding(word_VH, ids_T).to(at::kFloat)));
                const at::Tensor d_word_VH = before_VH.clone();
                operations.embedding_backward(d_sum_TH, ids_T, d_word_VH);
                CHECK_ROUNDED(d_word_VH, word.grad() + before_VH);
            }
        }
}

TEST_CASE("rows of equal index are added in token order") {
    const at::Tensor indices_T = at::zeros({3}, at::TensorOptions(at::kLong));
    const at::Tensor d_sum_TH = at::tensor({1e8F, 1.0F, -1e8F}).unsqueeze(1).expand({3, 72}).contiguous();
    for (const Operations& operations : both_implementations) {
        CAPTURE(operations.name);
        const at::Tensor d_table_VH = at::zeros({2, 72});
        operations.embedding_backward(d_sum_TH, indices_T, d_table_VH);
        CHECK(d_table_VH.abs().max().item<float>() == 0);  // any other order gives 1
    }
}

TEST_CASE("many rows of equal index are added in token order by several threads") {
    const std::int64_t T = 3000, H = 72, V = 5;
    RandomTensors random(3);
    const at::Tensor indices_T = random.below(V, T), d_sum_TH = random.normal({T, H}), right_VH = at::zeros({V, H});
    for (std::int64_t t = 0; t < T; ++t) right_VH[indices_T[t].item<std::int64_t>()].add_(d_sum_TH[t]);
    const int threads_before = at::get_num_threads();
    at::set_num_threads(3);
    for (const Operations& operations : both_implementations)
        for (int repetition = 0; repetition < 5; ++repetition) {
            CAPTURE(operations.name, repetition);
            const at::Tensor d_table_VH = at::zeros({V, H});
            operations.embedding_backward(d_sum_TH, indices_T, d_table_VH);
            CHECK(same_bits(d_table_VH, right_VH));
        }
    at::set_num_threads(threads_before);
}
