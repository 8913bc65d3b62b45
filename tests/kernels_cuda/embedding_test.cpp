#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

at::Tensor backward(decltype(&reference::embedding_backward) operation, const at::Tensor& d_sum_TH, const at::Tensor& indices_T,
                    std::int64_t rows) {
    at::Tensor d_table_VH = at::ones({rows, d_sum_TH.size(1)});
    operation(d_sum_TH, indices_T, d_table_VH);
    return d_table_VH;
}

void check_backward(const at::Tensor& d_sum_TH, const at::Tensor& indices_T, std::int64_t rows) {
    const auto ours = in_two_orders([&] { return backward(cuda::embedding_backward, d_sum_TH, indices_T, rows); });
    CHECK_ROUNDED(ours.first, backward(reference::embedding_backward, d_sum_TH, indices_T, rows));
    CHECK(same_bits(ours.first, ours.second));
}

}  // namespace

TEST_CASE("sums of embeddings on CUDA have the reference's bits") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::int64_t H : widths) {
            CAPTURE(compute_dtype, H);
            RandomTensors random(static_cast<std::uint64_t>(H));
            const at::Tensor word_VH = random.normal({50, H}, compute_dtype), position_PH = random.normal({9, H}, compute_dtype),
                             type_KH = random.normal({2, H}, compute_dtype);
            const at::Tensor ids_T = random.below(50, 11), positions_T = random.below(9, 11), types_T = random.below(2, 11);
            CHECK(same_bits(cuda::embedding_sum(ids_T, positions_T, types_T, word_VH, position_PH, type_KH),
                            reference::embedding_sum(ids_T, positions_T, types_T, word_VH, position_PH, type_KH)));
            CHECK(same_bits(cuda::embedding_sum(ids_T, positions_T, types_T, word_VH, {}, {}),
                            reference::embedding_sum(ids_T, positions_T, types_T, word_VH, {}, {})));
        }
}

TEST_CASE("gradients of embeddings on CUDA equal the reference's, for any distribution of tokens over rows of the table",
          "[system]") {
    for (const std::int64_t H : {1, 7, 1024, 1600}) {
        RandomTensors random(static_cast<std::uint64_t>(H));
        for (const std::int64_t T : {1, 32, 33, 150})
            for (const std::int64_t rows : {1, 2, 5, 1000}) {  // 1, 2: rows that cross every chunk of sorted tokens
                CAPTURE(H, T, rows);
                check_backward(random.normal({T, H}), random.below(rows, T), rows);
            }
    }
}

TEST_CASE("a row of the table that ends with a chunk of tokens is neither lost nor joined to the next") {
    RandomTensors random(1);
    for (const std::int64_t of_first : {31, 32, 33, 64, 65}) {
        CAPTURE(of_first);
        const at::Tensor indices_T = at::cat({at::zeros({of_first}, at::kLong), at::ones({100 - of_first}, at::kLong)});
        check_backward(random.normal({100, 40}), indices_T, 3);
    }
}

TEST_CASE("chunks of tokens grow if there are many tokens") {
    RandomTensors random(2);
    check_backward(random.normal({20'000, 4}), random.below(3, 20'000), 3);
}
