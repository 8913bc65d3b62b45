// The memory of attention on CPUs: a thread holds what its longest head needs, and no plan is exceeded.
#include "kernels/cpu/head_memory.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "kernels/cpu/attention/head_bf16.h"
#include "kernels/cpu/attention/head_fp32.h"
#include "kernels/cpu/attention/memory.h"
#include "kernels/kernel_inputs.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t D = 64;

/// Runs one head's forward and backward for each length on a thread of its own. @returns that thread's head memory
template <class Head>
cpu::HeadMemoryUse use_after(const std::vector<std::int64_t>& lengths, std::int64_t window = 0) {
    using W = typename Head::Dtype;
    cpu::HeadMemoryUse use;
    std::thread([&] {
        for (const std::int64_t length : lengths) {
            const Ragged batch = ragged({length});
            const Attention shape{batch.layout, 1, dropout_of(0.1, Purpose::attention_dropout), window};
            std::vector<W> qkv(static_cast<std::size_t>(3 * D * length)), context(static_cast<std::size_t>(D * length)),
                d_qkv(qkv.size());
            std::vector<float> bias(3 * D), log_sums(static_cast<std::size_t>(length)), bias_sums(3 * D);
            const cpu::HeadPlace place(shape, D, 0, 0);
            cpu::reserve_head_memory(Head::forward_bytes(length, D, window));
            Head(place, qkv.data(), bias.data()).forward(cpu::KeepRows(shape, place), context.data(), log_sums.data());
            cpu::reserve_head_memory(Head::backward_bytes(length, D, window));
            Head(place, qkv.data(), bias.data())
                .backward(cpu::KeepRows(shape, place), context.data(), log_sums.data(), d_qkv.data(), bias_sums.data());
        }
        use = cpu::head_memory_use();
    }).join();
    return use;
}

template <class Head>
void check_held(at::ScalarType compute_dtype) {
    const std::vector<std::int64_t> ragged_lengths{100, 480, 33, 512, 17, 511, 260, 512, 1, 300};
    const cpu::HeadMemoryUse use = use_after<Head>(ragged_lengths);
    CAPTURE(use.held, use.largest_used);
    CHECK(use.held <= Head::backward_bytes(512, D, 0));
    CHECK(use.held <= cpu::attention_memory_of_thread(512, D, compute_dtype));
    CHECK(use.largest_used <= use.held);
    CHECK(use.held <= use.largest_used * 3 / 2);  // bf16 without AMX needs 6 bytes per score of the 8 that are planned
    CHECK(use_after<Head>({512}).held == use.held);
}

/// Heads of 8,192 tokens, which no thread may need more than 64 MiB for, and of a window.
template <class Head>
void check_long(at::ScalarType compute_dtype) {
    constexpr std::size_t most = 64 << 20;
    constexpr std::int64_t length = 8192, window = 64;
    const cpu::HeadMemoryUse whole = use_after<Head>({length}), local = use_after<Head>({length, 700, 3}, window);
    CAPTURE(whole.held, whole.largest_used, local.held, local.largest_used);
    CHECK(whole.held <= cpu::attention_memory_of_thread(length, D, compute_dtype));
    CHECK(cpu::attention_memory_of_thread(length, D, compute_dtype) <= most);
    CHECK(whole.held <= whole.largest_used * 3 / 2);
    CHECK(local.held <= Head::backward_bytes(length, D, window));
    CHECK(local.largest_used <= local.held);
    CHECK(local.held < whole.held / 2);
}

}  // namespace

TEST_CASE("a thread holds the memory of its longest head of attention for any order of lengths, as planned") {
    check_held<cpu::Fp32Head<float>>(at::kFloat);
    check_held<cpu::Fp32Head<cpu::Bf16>>(at::kBFloat16);
}

TEST_CASE("a thread holds the memory of its longest head of bf16 attention for any order of lengths, as planned") {
    if (!cpu::Bf16Head::can(D)) SKIP_TEST(skip::no_bf16, "these heads need bf16 instructions");
    check_held<cpu::Bf16Head>(at::kBFloat16);
}

TEST_CASE("a thread needs at most 64 MiB for a head of 8,192 tokens, and less for one with a window", "[system]") {
    check_long<cpu::Fp32Head<float>>(at::kFloat);
    check_long<cpu::Fp32Head<cpu::Bf16>>(at::kBFloat16);
    if (cpu::Bf16Head::can(D)) check_long<cpu::Bf16Head>(at::kBFloat16);
}

TEST_CASE("head memory is a stack: what is kept last is taken first, and nothing taken is overwritten") {
    std::thread([] {
        cpu::reserve_head_memory(1000);
        void* const first = cpu::take_head_memory(100);
        void* const second = cpu::take_head_memory(100);
        void* const third = cpu::take_head_memory(100);
        CHECK(reinterpret_cast<std::uintptr_t>(third) % 64 == 0);
        cpu::keep_head_memory(second);  // below memory that is taken
        CHECK(cpu::take_head_memory(10) > third);
        cpu::keep_head_memory(static_cast<std::byte*>(third) + 128);
        cpu::keep_head_memory(third);
        CHECK(cpu::take_head_memory(100) == second);
        void* const large = cpu::take_head_memory(5000);  // more than reserved
        CHECK(cpu::head_memory_use().held == 1000 + cpu::head_memory_of(5000));
        for (void* const memory : {large, second, first}) cpu::keep_head_memory(memory);
        CHECK(cpu::head_memory_use().held == 1000);
        CHECK_THROWS_AS(cpu::keep_head_memory(first), std::logic_error);
    }).join();
}
