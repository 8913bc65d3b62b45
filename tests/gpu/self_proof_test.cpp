// The self-proof of the module's kernels on a GPU, at the sizes of published models.
#include "kernels/self_proof.h"

#include <iostream>

#include "gpu/gpu.h"
#include "kernels/kernels_in_use.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Whether a row says no more than that kernels for Hopper need one.
bool is_for_another_gpu(const ProofRow& row) {
    return row.kernels == kernels_of_warpgroups && row.detail.find("compute capability 9.0") != std::string::npos;
}

}  // namespace

TEST_CASE("on a GPU all kernels are proven within three seconds, at BERT-Large's sizes and at short and long sequences",
          "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const std::vector<KernelSet> sets = available_kernels(*device, {kernels_of_warpgroups});
    for (const at::ScalarType compute_dtype : {at::kBFloat16, at::kFloat})
        for (const std::int64_t length : {128, 512}) {
            ProofShape shape;
            shape.compute_dtype = compute_dtype;
            shape.longest_sequence = length;
            const Proof proof = prove_kernels(*device, sets, {shape, true, {}});
            std::cout << at::toString(compute_dtype) << ", " << length << " tokens, " << proof.seconds << " s\n"
                      << proof_table(proof.rows) << std::flush;
            for (const ProofRow& row : proof.rows) {
                CAPTURE(row.operation, row.kernels, complaint_of(row));
                CHECK((row.verdict == Verdict::correct || is_for_another_gpu(row)));
            }
            CHECK(proof.seconds < 3);
        }
}

TEST_CASE("on a GPU all kernels of ModernBERT-base are proven within four seconds, at 1,024 and at 8,192 tokens", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const std::vector<KernelSet> sets = available_kernels(*device, {kernels_of_warpgroups});
    for (const std::int64_t length : {1024, 8192}) {
        ProofShape shape{768, 1152, 12, 50368, length};
        shape.is_gated = shape.is_rotary = true;
        shape.window = 64;
        const Proof proof = prove_kernels(*device, sets, {shape, true, {}});
        std::cout << "ModernBERT-base, " << length << " tokens, " << proof.seconds << " s\n"
                  << proof_table(proof.rows) << std::flush;
        for (const ProofRow& row : proof.rows) {
            CAPTURE(row.operation, row.kernels, complaint_of(row));
            CHECK((row.verdict == Verdict::correct || is_for_another_gpu(row)));
        }
        CHECK(proof.seconds < 4);
    }
}

TEST_CASE("on a GPU norms and attention that round to fp8 as they compute are proven, at BERT-Large's and ModernBERT's sizes",
          "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const std::vector<KernelSet> sets = available_kernels(*device, {kernels_of_warpgroups});
    ProofShape short_ones, long_ones, modern{768, 1152, 12, 50368, 1024};
    long_ones.longest_sequence = 512;
    modern.is_gated = modern.is_rotary = true, modern.window = 64;
    for (ProofShape shape : {short_ones, long_ones, modern}) {
        shape.fp8_matmuls = true;
        const Proof proof = prove_kernels(*device, sets, {shape, false, {}});
        std::cout << "fp8, " << shape.longest_sequence << " tokens\n" << proof_table(proof.rows) << std::flush;
        for (const std::string operation : {"dropout + residual + LayerNorm", "attention", "rounding to fp8"})
            CHECK(proof.is_correct(operation, "cuda"));
    }
}

TEST_CASE("on a GPU a wrong kernel and one that throws are found, and plain ATen is used instead", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    std::vector<KernelSet> sets = available_kernels(*device);
    sets.front().functions.bias_activation = [](const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
        return reference::bias_activation(x_TF, bias_F, activation) * 1.01;
    };
    sets.front().functions.attention = [](const at::Tensor&, const at::Tensor&, const Attention&) -> AttentionResult {
        throw std::runtime_error("no kernel image is available");
    };
    const Proof proof = prove_kernels(*device, sets, {{}, false, {}});
    INFO(proof_table(proof.rows));
    CHECK_FALSE(proof.is_correct("bias + GELU", "cuda"));
    CHECK_FALSE(proof.is_correct("attention", "cuda"));
    CHECK(proof.choice().at("bias + GELU") != "cuda");
    CHECK(proof.choice().at("attention") != "cuda");
    CHECK(proof.is_correct("softmax cross entropy", "cuda"));
}

TEST_CASE("on a GPU a launch with more shared memory than it has fails inside a proof, and the next kernels run", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    std::vector<KernelSet> sets = available_kernels(*device);
    sets.front().functions.attention = [](const at::Tensor&, const at::Tensor&, const Attention&) -> AttentionResult {
        cuda_module()->launch_empty_kernel(230 * 1024 + 1);  // no GPU has more than 227 KiB
        return {};
    };
    const Proof proof = prove_kernels(*device, sets, {{}, false, {}});
    INFO(proof_table(proof.rows));
    CHECK_FALSE(proof.is_correct("attention", "cuda"));
    CHECK(proof.choice().at("attention") == "flash attention");
    CHECK(proof.is_correct("softmax cross entropy", "cuda"));
    CHECK(at::zeros({1}, at::TensorOptions(*device)).add_(1).item<float>() == 1);
}
