// The self-proof does not choose kernels that are wrong, throw, or are slower than others.
#include "kernels/self_proof.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

#include "kernels/kernel_inputs.h"
#include "kernels/kernels_in_use.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr ProofShape small{64, 96, 4, 203, 24, Activation::gelu_erf, at::kFloat};

/// The reference under another name; tests replace some of its functions.
KernelSet copy_of_reference(const std::string& name = "ours") {
    KernelSet set = reference_kernels();
    set.name = name;
    return set;
}

at::Tensor wrong_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    return reference::bias_activation(x_TF, bias_F, activation) * 1.01;
}
at::Tensor activation_with_one_wrong_element(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    at::Tensor y_TF = reference::bias_activation(x_TF, bias_F, activation);
    y_TF[3][5] += 1;
    return y_TF;
}
at::Tensor activation_with_nan(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    at::Tensor y_TF = reference::bias_activation(x_TF, bias_F, activation);
    y_TF[3][5] = std::numeric_limits<float>::quiet_NaN();
    return y_TF;
}
at::Tensor activation_of_wrong_type(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    return reference::bias_activation(x_TF, bias_F, activation).to(at::kDouble);
}
at::Tensor unsupported_activation(const at::Tensor&, const at::Tensor&, Activation) {
    throw std::runtime_error("no kernel image is available\nin detail");
}
/// @param milliseconds minimum duration of a call
template <int milliseconds>
at::Tensor slow_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return reference::bias_activation(x_TF, bias_F, activation);
}
AttentionGradient wrong_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                           const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    return {reference::attention_backward(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H).qkv_T3H * 1.05};
}
/// Draws its own masks, like a library.
AttentionResult attention_with_other_dropout(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    Attention other = shape;
    other.dropout.site += 1;
    return reference::attention(qkv_T3H, bias_3H, other);
}

KernelSet with_activation(decltype(&wrong_activation) activation, const std::string& name = "ours") {
    KernelSet set = copy_of_reference(name);
    set.functions.bias_activation = activation;
    return set;
}

bool says(const std::string& text, const std::vector<std::string>& words) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) { return text.find(word) != text.npos; });
}

Proof prove(std::vector<KernelSet> sets, bool times = false, const KernelChoice& kept = {}) {
    sets.push_back(reference_kernels());
    return prove_kernels(at::kCPU, sets, {small, times, kept});
}

}  // namespace

TEST_CASE("all vectorized CPU kernels pass the self-proof, in both types") {
    KernelSet cpu{"cpu", cpu_operations, &cpu_optimizer_kernels(), {}};
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
        for (const bool is_modern : {false, true}) {
            ProofShape shape = small;
            shape.compute_dtype = compute_dtype;
            shape.is_gated = shape.is_rotary = is_modern;
            shape.window = is_modern ? 4 : 0;
            const std::vector<KernelSet> sets{cpu, reference_kernels()};
            const Proof proof = prove_kernels(at::kCPU, sets, {shape, false, {}});
            INFO(proof_table(proof.rows));
            CHECK(proof.rows.size() == (is_modern ? 2 * 11 : 2 * 9));  // on a CPU, matmuls do not belong to a set
            for (const ProofRow& row : proof.rows) {
                CHECK((row.verdict == Verdict::correct));
                CHECK(row.whole);
                CHECK(row.used == (row.kernels == "cpu"));
            }
            CHECK((chosen_kernels(sets, proof.choice()).functions.attention == &cpu::attention));
        }
    }
}

TEST_CASE("operations that all sets compute in the same way are not tested") {
    CHECK(prove({copy_of_reference()}).rows.empty());
    CHECK(prove({}).rows.empty());
    CHECK(prove({with_activation(wrong_activation)}).rows.size() == 2);
}

TEST_CASE("a result that is wrong by one per cent, in one element, NaN or of another type is found and not used") {
    const std::vector<std::pair<decltype(&wrong_activation), std::string>> cases{{wrong_activation, "1.0e-02"},
                                                                                 {activation_with_one_wrong_element, "e-0"},
                                                                                 {activation_with_nan, "inf"},
                                                                                 {activation_of_wrong_type, "inf"}};
    for (const auto& [activation, error] : cases) {
        const Proof proof = prove({with_activation(activation)});
        INFO(proof_table(proof.rows));
        REQUIRE(proof.rows.size() == 2);
        CHECK((proof.rows[0].verdict == Verdict::wrong));
        CHECK(says(complaint_of(proof.rows[0]), {"wrong: the output differs by ", error, "at most 3.0e-06"}));
        CHECK(proof.choice() == KernelChoice{{"bias + GELU", "reference"}});
    }
}

TEST_CASE("a kernel that throws or is not supported is not used, and the first line of its message is kept") {
    const Proof proof = prove({with_activation(unsupported_activation)}, true);
    CHECK(complaint_of(proof.rows.at(0)) == "failed: no kernel image is available");
    CHECK(proof.choice() == KernelChoice{{"bias + GELU", "reference"}});
    CHECK(says(proof_table(proof.rows), {"failed: no kernel image", "used"}));
}

TEST_CASE("forward and backward of an operation come from the same set, and other operations stay with theirs") {
    KernelSet ours = with_activation(slow_activation<0>);
    ours.functions.attention_backward = wrong_attention_backward;
    const std::vector<KernelSet> sets{ours, reference_kernels()};
    const Proof proof = prove_kernels(at::kCPU, sets, {small, false, {}});
    INFO(proof_table(proof.rows));
    CHECK(proof.choice() == KernelChoice{{"attention", "reference"}, {"bias + GELU", "ours"}});
    CHECK_FALSE(proof.is_correct("attention", "ours"));
    const KernelSet chosen = chosen_kernels(sets, proof.choice());
    CHECK((chosen.functions.attention_backward == &reference::attention_backward));
    CHECK((chosen.functions.bias_activation == &slow_activation<0>));
}

TEST_CASE("dropout masks are compared only for sets that declare them counter-based") {
    KernelSet ours = copy_of_reference();
    ours.functions.attention = attention_with_other_dropout;
    CHECK_FALSE(prove({ours}).is_correct("attention", "ours"));
    ours.counts_dropout = [](std::int64_t longest, std::int64_t, at::ScalarType) { return longest < small.longest_sequence; };
    const Proof proof = prove({ours});
    CHECK(proof.is_correct("attention", "ours"));
    CHECK(proof.choice().at("attention") == "ours");
    CHECK_FALSE(proof.rows.front().whole);
    CHECK(says(proof_table(proof.rows), {"used; it draws its own dropout masks, not compared"}));
}

TEST_CASE("a set is preferred to those before it if it takes less than half of their time") {
    const KernelSet slow = with_activation(slow_activation<60>, "slow"), quick = with_activation(slow_activation<1>, "quick"),
                    little_quicker = with_activation(slow_activation<56>, "little quicker");
    const Proof proof = prove({slow, quick}, true);
    INFO(proof_table(proof.rows));
    CHECK(proof.rows[0].microseconds > 60e3);
    CHECK(proof.choice().at("bias + GELU") != "slow");
    CHECK(prove({slow, quick}).choice().at("bias + GELU") == "slow");  // without timing, the first
    const std::vector<KernelSet> alike{slow, little_quicker};
    bool keeps_the_first = false;
    for (int attempt = 0; attempt < 5 && !keeps_the_first; ++attempt)  // a busy machine may lengthen the first one's sleep
        keeps_the_first = prove_kernels(at::kCPU, alike, {small, true, {}}).choice().at("bias + GELU") == "slow";
    CHECK(keeps_the_first);
}

TEST_CASE("a kept choice is used without timing if it is correct, otherwise the first correct set") {
    const KernelSet right = with_activation(slow_activation<0>, "right"), wrong = with_activation(wrong_activation, "wrong");
    const auto used = [&](const char* kept) { return prove({right, wrong}, true, {{"bias + GELU", kept}}).choice(); };
    CHECK(used("reference") == KernelChoice{{"bias + GELU", "reference"}});
    CHECK(used("right") == KernelChoice{{"bias + GELU", "right"}});
    CHECK(used("wrong") == KernelChoice{{"bias + GELU", "right"}});
    CHECK(used("of another program") == KernelChoice{{"bias + GELU", "right"}});
    for (const ProofRow& row : prove({right}, true, {{"bias + GELU", "right"}}).rows) CHECK(row.microseconds == 0);
}

TEST_CASE("kernels passed to use_kernels are used until the usual ones are restored") {
    CHECK(available_kernels(at::kCPU).empty());
    offer_kernels(at::kCPU, {with_activation(slow_activation<0>)});
    REQUIRE(available_kernels(at::kCPU).size() == 2);
    CHECK(available_kernels(at::kCPU).back().name == "reference");
    use_kernels(at::kCPU, available_kernels(at::kCPU).front());
    CHECK((functions_for(at::kCPU).bias_activation == &slow_activation<0>));
    CHECK(&optimizer_kernels_for(at::kCPU) == &reference_optimizer_kernels());
    use_usual_kernels(at::kCPU);
    CHECK(available_kernels(at::kCPU).empty());
    CHECK((functions_for(at::kCPU).bias_activation != &slow_activation<0>));
}
