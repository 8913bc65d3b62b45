#include <atomic>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>

#include "core/error.h"
#include "kernels/cpu/operation_threads.h"
#include "kernels/cpu/work_stealing.h"

#include "kernels/kernel_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// All tensors that the CPU operations compute for one batch.
std::vector<at::Tensor> all_results(const Ragged& batch, at::ScalarType compute_dtype) {
    const std::int64_t T = batch.tokens(), H = 72, N = 4, V = 101;
    RandomTensors random(9);
    std::vector<at::Tensor> results;
    const auto keep = [&](const at::Tensor& tensor) { results.push_back(tensor); };

    const NormParameters norm{random.normal({H}), random.normal({H})}, d_norm{at::zeros({H}), at::zeros({H})};
    const at::Tensor d_bias_H = at::zeros({H});
    const NormResult normed =
        cpu::dropout_residual_norm({random.normal({T, H}, compute_dtype), random.normal({H}), random.normal({T, H}), norm, 1e-12,
                                    dropout_of(0.1), batch.rows, compute_dtype, true});
    const NormGradients d_normed = cpu::dropout_residual_norm_backward({random.normal({T, H}, compute_dtype),
                                                                        {},
                                                                        random.normal({T, H}),
                                                                        normed,
                                                                        norm,
                                                                        dropout_of(0.1),
                                                                        batch.rows,
                                                                        compute_dtype,
                                                                        d_norm,
                                                                        d_bias_H});
    for (const at::Tensor& tensor : {normed.sum_TH, normed.normed_TH, normed.normed_fp32_TH, normed.mean_T, d_normed.sum_TH,
                                     d_normed.out_TH, d_norm.weight_H, d_norm.bias_H, d_bias_H})
        keep(tensor);

    const at::Tensor x_TF = random.normal({T, V}, compute_dtype), bias_F = random.normal({V}), d_bias_F = at::zeros({V});
    keep(cpu::bias_activation(x_TF, bias_F, Activation::gelu_erf));
    keep(cpu::bias_activation_backward(random.normal({T, V}, compute_dtype), x_TF, bias_F, Activation::gelu_tanh, d_bias_F));
    keep(d_bias_F);

    const Attention shape{batch.layout, N, dropout_of(0.1, Purpose::attention_dropout)};
    const at::Tensor qkv_T3H = random.normal({T, 3 * H}, compute_dtype), bias_3H = random.normal({3 * H}),
                     d_bias_3H = at::zeros({3 * H});
    const AttentionResult attended = cpu::attention(qkv_T3H, bias_3H, shape);
    keep(attended.context_TH);
    keep(attended.log_sum_exp_TN);
    keep(cpu::attention_backward(random.normal({T, H}, compute_dtype), qkv_T3H, bias_3H, attended, shape, d_bias_3H).qkv_T3H);
    keep(d_bias_3H);

    const at::Tensor d_table_VH = at::zeros({V, H}), d_bias_V = at::zeros({V}), totals_2 = at::zeros({2}, at::kDouble);
    cpu::embedding_backward(normed.sum_TH, random.below(V, T), d_table_VH);
    at::Tensor logits_TV = random.normal({T, V}, compute_dtype);
    cpu::softmax_cross_entropy(logits_TV, bias_F, random.below(V, T), 0.01, d_bias_V, totals_2);
    for (const at::Tensor& tensor : {d_table_VH, logits_TV, d_bias_V, totals_2}) keep(tensor);
    return results;
}

}  // namespace

TEST_CASE("the results of CPU operations are bitwise independent of the number of threads") {
    const int threads_before = at::get_num_threads();
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{100, 1, 64, 37, 2, 128}, {60}}) {
            const Ragged batch = ragged(lengths);
            at::set_num_threads(1);
            const std::vector<at::Tensor> alone = all_results(batch, compute_dtype);
            for (const int threads : {2, 3}) {
                at::set_num_threads(threads);
                const std::vector<at::Tensor> shared = all_results(batch, compute_dtype);
                for (std::size_t i = 0; i < alone.size(); ++i) {
                    CAPTURE(compute_dtype, lengths.size(), threads, i);
                    CHECK(same_bits(shared[i], alone[i]));
                }
            }
        }
    at::set_num_threads(threads_before);
}

TEST_CASE("CPU operations use as many threads as torch allows, and one inside of an operation and of torch's parallel loops") {
    const int threads_before = at::get_num_threads();
    at::set_num_threads(3);
    CHECK(cpu::operation_threads() == 3);
    std::atomic<int> begun{0}, inside{0};
    cpu::for_each_piece(3, [&](std::int64_t) {  // ends only if three threads take a piece each
        ++begun;
        while (begun < 3) std::this_thread::yield();
        if (cpu::operation_threads() == 1) ++inside;
        cpu::for_each_piece(10, [&](std::int64_t) { ++inside; });
    });
    CHECK(inside == 33);
    CHECK(cpu::operation_threads() == 3);
    at::parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) { inside = static_cast<int>(cpu::operation_threads()); });
    CHECK(inside == 1);
    at::set_num_threads(threads_before);
}

TEST_CASE("threads that compute at the same time have helpers of their own") {
    const int threads_before = at::get_num_threads();
    at::set_num_threads(2);
    std::atomic<int> done{0};
    const auto compute = [&] {
        at::set_num_threads(2);
        for (int i = 0; i < 100; ++i) cpu::for_each_piece(10, [&](std::int64_t) { ++done; });
    };
    {
        const std::jthread other(compute);
        compute();
    }
    CHECK(done == 2000);
    at::set_num_threads(threads_before);
}

TEST_CASE("each piece of work is done once, also where a thread does not begin until the others have done its share") {
    const int before = at::get_num_threads();
    at::set_num_threads(4);
    for (const std::int64_t count : {0, 1, 3, 4, 1001}) {
        CAPTURE(count);
        std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
        cpu::for_each_piece(count, [&](std::int64_t piece) { ++done[static_cast<std::size_t>(piece)]; });
        for (const auto& times : done) REQUIRE(times == 1);
    }
    at::set_num_threads(before);
    cpu::StealableWork work(10, 3);
    std::vector<std::int64_t> order;
    work.take_all(1, [&](std::int64_t piece) { order.push_back(piece); });
    CHECK(order == std::vector<std::int64_t>{3, 4, 5, 6, 7, 8, 9, 0, 1, 2});
    work.take_all(0, [&](std::int64_t) { FAIL("a piece was done twice"); });
}

TEST_CASE("an exception in a piece of work reaches the caller") {
    CHECK_THROWS_AS(cpu::for_each_piece(100, [](std::int64_t piece) { check(piece != 50, "piece 50"); }), std::exception);
}
