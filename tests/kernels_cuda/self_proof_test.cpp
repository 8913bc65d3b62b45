// The module's kernels pass, in the emulator, the self-proof that runs on a GPU.
#include "kernels/self_proof.h"

#include "kernels/cuda/own_attention.h"
#include "kernels/kernels_in_use.h"
#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// As in the module, but plain ATen instead of flash attention, which needs a GPU.
bool is_ours(const at::Tensor& qkv_T3H, const Attention& shape) {
    const cuda::AttentionKernels kernels = cuda::attention_kernels(cuda::attention_size(qkv_T3H, shape));
    return kernels != cuda::AttentionKernels::flash && kernels != cuda::AttentionKernels::reference;
}
AttentionResult attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    return (is_ours(qkv_T3H, shape) ? cuda::own_attention : reference::attention)(qkv_T3H, bias_3H, shape);
}
AttentionGradient attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                     const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    const auto backward = is_ours(qkv_T3H, shape) ? cuda::own_attention_backward : reference::attention_backward;
    return backward(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
}

KernelSet emulated_kernels() {
    KernelSet set = reference_kernels();
    set.name = "cuda";
    set.functions.dropout_residual_norm = cuda::dropout_residual_norm;
    set.functions.dropout_residual_norm_backward = cuda::dropout_residual_norm_backward;
    set.functions.dropout_rows = cuda::dropout_rows;
    set.functions.bias_activation = cuda::bias_activation;
    set.functions.bias_activation_backward = cuda::bias_activation_backward;
    set.functions.quantize = cuda::quantize;
    set.functions.embedding_sum = cuda::embedding_sum;
    set.functions.embedding_backward = cuda::embedding_backward;
    set.functions.softmax_cross_entropy = cuda::softmax_cross_entropy;
    set.functions.attention = attention;
    set.functions.attention_backward = attention_backward;
    set.optimizer = &cuda::optimizer_kernels();
    return set;
}

}  // namespace

TEST_CASE("the module's kernels pass the self-proof, in both types and at aligned and unaligned widths", "[system]") {
    const std::vector<KernelSet> sets{emulated_kernels(), reference_kernels()};
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::int64_t width : {100, 256}) {
            CAPTURE(compute_dtype, width);
            const ProofShape shape{width, 2 * width, 4, 301, 40, Activation::gelu_erf, compute_dtype, false, false, /*window=*/8};
            const Proof proof = prove_kernels(at::kCPU, sets, {shape, false, {}});
            INFO(proof_table(proof.rows));
            CHECK(proof.rows.size() == 2 * 8);
            for (const ProofRow& row : proof.rows) CHECK((row.verdict == Verdict::correct));
        }
}

TEST_CASE("for a run in fp8, the self-proof shows that the module's norms and attention round to fp8 as they compute",
          "[system]") {
    KernelSet wrong = emulated_kernels();
    wrong.name = "wrong";
    wrong.functions.dropout_residual_norm = [](const NormArguments& arguments) {
        NormResult result = cuda::dropout_residual_norm(arguments);
        if (result.normed_fp8.defined()) result.normed_fp8.columns_CT.view(at::kByte).select(0, 0).zero_();
        return result;
    };
    wrong.functions.attention_backward = [](const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                            const AttentionResult& forward, const Attention& attended,
                                            const at::Tensor& d_bias_3H) {
        AttentionGradient d = attention_backward(d_context_TH, qkv_T3H, bias_3H, forward, attended, d_bias_3H);
        if (d.qkv_fp8.defined()) d.qkv_fp8.columns_CT.view(at::kByte).narrow(0, 0, 16).zero_();
        return d;
    };
    ProofShape shape{256, 512, 4, 301, 40};
    shape.fp8_matmuls = true;
    const Proof proof = prove_kernels(at::kCPU, {emulated_kernels(), wrong, reference_kernels()}, {shape, false, {}});
    INFO(proof_table(proof.rows));
    CHECK(proof.is_correct("dropout + residual + LayerNorm", "cuda"));
    CHECK_FALSE(proof.is_correct("dropout + residual + LayerNorm", "wrong"));
    CHECK(proof.is_correct("attention", "cuda"));
    CHECK_FALSE(proof.is_correct("attention", "wrong"));
    CHECK(proof.is_correct("rounding to fp8", "cuda"));
}

TEST_CASE("with 99 KiB of shared memory, the module's kernels pass the self-proof with heads of 64", "[system]") {
    const cuda_emulator::SharedMemoryOf memory(99 * 1024);
    const std::vector<KernelSet> sets{emulated_kernels(), reference_kernels()};
    const ProofShape shape{64, 128, 1, 301, 128, Activation::gelu_erf, at::kBFloat16};
    const Proof proof = prove_kernels(at::kCPU, sets, {shape, false, {}});
    INFO(proof_table(proof.rows));
    CHECK(proof.is_correct("attention", "cuda"));
    CHECK(cuda::own_attention_kernels({128, 64, at::kBFloat16}) == cuda::AttentionKernels::short_sequences);
}

TEST_CASE("where CUDA launches no kernel, a run starts with plain ATen, and the table of kernels names it for each operation") {
    offer_kernels(at::kCPU, {emulated_kernels()});
    const ProofShape shape{64, 128, 1, 301, 16, Activation::gelu_erf, at::kBFloat16};
    const std::vector<KernelSet> sets = available_kernels(at::kCPU);
    Proof proof;
    {
        const cuda_emulator::FailingLaunches failing;
        proof = prove_kernels(at::kCPU, sets, {shape, false, {}});
    }
    use_usual_kernels(at::kCPU);
    const std::string table = proof_table(proof.rows);
    INFO(table);
    CHECK(proof.rows.size() == 2 * 8);
    for (const ProofRow& row : proof.rows) {
        CHECK(row.used == (row.kernels == "reference"));
        CHECK((row.verdict == Verdict::failed) == (row.kernels == "cuda"));
    }
    CHECK(table.find("failed: CUDA kernel launch failed: no kernel image is available for execution on the device; \"reference\" "
                     "is used instead") != table.npos);
    CHECK(cudaPeekAtLastError() == cudaSuccess);  // or the next launch of anyone would report it
    CHECK(chosen_kernels(sets, proof.choice()).functions.attention == reference_kernels().functions.attention);
}
