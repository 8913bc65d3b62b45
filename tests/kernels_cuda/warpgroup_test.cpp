// The matmuls of a warpgroup, and how the emulator judges kernels that use them wrongly.
#include "kernels/cuda/warpgroup.h"

#include <vector>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_rows.h"
#include "kernels_cuda/cuda_inputs.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace bertpretrain::cuda;

namespace {

constexpr int rows = warpgroup_rows, columns = warpgroup_columns;

enum class Fault {
    none,
    rows_not_exchanged,
    memory_not_aligned,
    copies_not_shown,
    no_fence,
    no_commit,
    no_wait,
    warp_absent,
    beyond_memory
};

struct Product {
    const Bf16 *a, *b;            ///< 64 x 64
    float *of_rows, *of_columns;  ///< a b^T, and that as bf16 times b
    Fault fault;
};

template <class Rows>
__device__ void copy(Bf16* to, const Bf16* from) {
    copy_rows_async<columns, rows, warpgroup_threads, Rows>(to, from, columns, 0, rows);
}

__device__ void write(float* to, const Sums (&sums)[warpgroup_tiles]) {
    for (int t = 0; t < warpgroup_tiles; ++t)
        for (int i = 0; i < 4; ++i)
            to[(warp() * warp_rows + lane() / 4 + 8 * (i / 2)) * columns + 8 * t + 2 * (lane() % 4) + i % 2] = sums[t][i];
}

__global__ void multiply(const Product product) {
    wait_for_kernel_before();
    const Fault fault = product.fault;
    auto* const a = static_cast<Bf16*>(fault == Fault::memory_not_aligned ? dynamic_shared_memory() : aligned_shared_memory());
    Bf16* const b = a + rows * columns;
    fault == Fault::rows_not_exchanged ? copy<PaddedRows<columns - row_padding>>(a, product.a) : copy<SwizzledRows>(a, product.a);
    copy<SwizzledRows>(b, product.b);
    wait_for_copies();
    if (fault != Fault::copies_not_shown) show_to_matmuls();
    __syncthreads();
    Sums of_rows[warpgroup_tiles], of_columns[warpgroup_tiles]{};
    if (fault != Fault::no_fence) begin_matmuls();
    if (fault != Fault::warp_absent || warp() != 2)
        begin_products_of_rows(of_rows, a, fault == Fault::beyond_memory ? b + rows * columns : b);
    if (fault != Fault::no_commit) commit_matmuls();
    if (fault != Fault::no_wait) wait_for_matmuls();
    keep_order(of_rows);
    write(product.of_rows, of_rows);
    FragmentA rounded[columns / 16];
    for (int step = 0; step < columns / 16; ++step) rounded[step] = fragment_of(of_rows[2 * step], of_rows[2 * step + 1]);
    begin_matmuls();
    begin_sums_over_rows(of_columns, rounded, b);
    commit_matmuls();
    wait_for_matmuls();
    keep_order(of_columns);
    write(product.of_columns, of_columns);
}

/// Returns whether both products are those of plain matmuls.
bool is_right(Fault fault) {
    RandomTensors random(3);
    const at::Tensor a = random.normal({rows, columns}, at::kBFloat16), b = random.normal({rows, columns}, at::kBFloat16),
                     of_rows = at::empty({rows, rows}), of_columns = at::empty({rows, columns});
    const auto bf16 = [](const at::Tensor& matrix) { return static_cast<const Bf16*>(matrix.const_data_ptr()); };
    launch_with_shared(multiply, grid_of(1), warpgroup_threads, 2 * rows * columns * sizeof(Bf16) + swizzle_alignment, nullptr,
                       Product{bf16(a), bf16(b), of_rows.data_ptr<float>(), of_columns.data_ptr<float>(), fault});
    const at::Tensor expected = a.to(at::kFloat).mm(b.to(at::kFloat).t()),
                     of_rounded = of_rows.to(at::kBFloat16).to(at::kFloat).mm(b.to(at::kFloat));
    return relative_error(of_rows, expected) < 1e-6 && relative_error(of_columns, of_rounded) < 1e-6;
}

}  // namespace

TEST_CASE("matmuls of a warpgroup multiply rows by rows, and rows in registers by columns") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        cuda_emulator::schedule_seed = seed;
        CHECK(is_right(Fault::none));
    }
}

TEST_CASE("in the emulator, matmuls of rows that are not exchanged, or of sums that are read too early, are wrong") {
    CHECK_FALSE(is_right(Fault::rows_not_exchanged));
    CHECK_FALSE(is_right(Fault::no_wait));
}

TEST_CASE("the emulator refuses matmuls of a warpgroup that break a rule, and names it") {
    const auto [fault, rule] = GENERATE(table<Fault, std::string>({{Fault::memory_not_aligned, "multiple of 1024 bytes"},
                                                                   {Fault::copies_not_shown, "fence.proxy.async"},
                                                                   {Fault::no_fence, "without a fence"},
                                                                   {Fault::no_commit, "not committed"},
                                                                   {Fault::warp_absent, "do not begin the same matmuls"},
                                                                   {Fault::beyond_memory, "outside of shared memory"}}));
    CHECK_THROWS_WITH(is_right(fault), Catch::Contains(rule));
    CHECK(is_right(Fault::none));
}
