#include "inference/loaded_model.h"

#include "kernels/kernel_inputs.h"
#include "kernels/kernels_in_use.h"
#include "support/as_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("inference does not use kernels that throw or are wrong, but uses the others") {
    struct UsualAfterwards {
        ~UsualAfterwards() { use_usual_kernels(at::kCPU); }
    } const usual_afterwards;
    BertConfig model;
    model.hidden_size = 64;
    model.intermediate_size = 96;
    model.num_attention_heads = 4;
    model.vocab_size = 203;
    use_proven_kernels(as_model(model), 24, at::kFloat, at::kCPU);  // nothing to choose

    KernelSet ours{"ours", cpu_operations, &cpu_optimizer_kernels(), {}};
    ours.functions.attention = [](const at::Tensor&, const at::Tensor&, const Attention&) -> AttentionResult {
        throw std::runtime_error("no kernel image is available");
    };
    offer_kernels(at::kCPU, {ours});
    use_proven_kernels(as_model(model), 24, at::kFloat, at::kCPU);
    CHECK((functions_for(at::kCPU).attention == &reference::attention));
    CHECK((functions_for(at::kCPU).attention_backward == &reference::attention_backward));
    CHECK((functions_for(at::kCPU).bias_activation == &cpu::bias_activation));
}
