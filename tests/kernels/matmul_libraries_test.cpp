// The bf16 matmuls of a Linear layer, with each library.

#include "kernels/matmul.h"

#include <cmath>

#include <ATen/Parallel.h>

#include "kernels/kernel_inputs.h"
#include "kernels/matmul_libraries.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Matmuls {
    at::Tensor y_TO, dx_TI, d_weight_OI;
};

struct Linear {
    at::Tensor x_TI, weight_OI, dy_TO, d_weight_before_OI;

    Linear(std::int64_t T, std::int64_t I, std::int64_t O) {
        RandomTensors random(static_cast<std::uint64_t>(T * I + O));
        x_TI = random.normal({T, I}, at::kBFloat16);
        weight_OI = random.normal({O, I}, at::kBFloat16);
        dy_TO = random.normal({T, O}, at::kBFloat16);
        d_weight_before_OI = random.normal({O, I});
    }

    Matmuls by(MatmulLibrary library) const {
        const std::int64_t O = weight_OI.size(0), I = weight_OI.size(1);
        use_matmul_libraries({{{LinearMatmul::forward, O, I}, library},
                              {{LinearMatmul::input_gradient, O, I}, library},
                              {{LinearMatmul::weight_gradient, O, I}, library}});
        Matmuls matmuls{linear_matmul(x_TI, weight_OI), linear_input_gradient(dy_TO, weight_OI), d_weight_before_OI.clone()};
        add_linear_weight_gradient(dy_TO, x_TI, matmuls.d_weight_OI);
        use_matmul_libraries({});
        return matmuls;
    }

    /// In fp64.
    Matmuls fp64() const {
        const at::Tensor x = x_TI.to(at::kDouble), weight = weight_OI.to(at::kDouble), dy = dy_TO.to(at::kDouble);
        return {x.mm(weight.t()), dy.mm(weight), d_weight_before_OI.to(at::kDouble) + dy.t().mm(x)};
    }
};

/// Largest error, relative to the largest element.
double error(const at::Tensor& is, const at::Tensor& should) {
    return ((is.to(at::kDouble) - should).abs().max() / should.abs().max()).item<double>();
}

constexpr double bf16_rounding = 1.0 / 256;
const std::vector<std::array<std::int64_t, 3>> sizes{
    {1, 64, 192}, {37, 64, 64},    {130, 256, 64},  {20, 72, 808},
    {96, 1, 8},   {300, 530, 290}, {520, 2080, 544}};  // the last: AMX blocks of both kinds, several depth parts

const char* kind_of_missing(MatmulLibrary library) {
    if (library == MatmulLibrary::vector) return testing::skip::no_avx2;
    return library == MatmulLibrary::amx ? testing::skip::no_amx : testing::skip::no_mkl;
}

}  // namespace

TEST_CASE("each library's matmuls of a Linear layer are exact except for rounding to bf16") {
    const MatmulLibrary library = GENERATE(MatmulLibrary::onednn, MatmulLibrary::mkl, MatmulLibrary::amx, MatmulLibrary::vector);
    if (!has(library)) SKIP_TEST(kind_of_missing(library), "");
    for (const auto& [T, I, O] : sizes) {
        INFO(name_of(library) << ", " << T << " rows, " << I << " inputs, " << O << " outputs");
        const Linear linear(T, I, O);
        const Matmuls is = linear.by(library), should = linear.fp64();
        CHECK(is.y_TO.scalar_type() == at::kBFloat16);
        CHECK(error(is.y_TO, should.y_TO) < bf16_rounding);
        CHECK(error(is.dx_TI, should.dx_TI) < bf16_rounding);
        CHECK(error(is.d_weight_OI, should.d_weight_OI) < bf16_rounding);
    }
}

TEST_CASE("a weight gradient without accumulation does not depend on what the memory held") {
    const MatmulLibrary library = GENERATE(MatmulLibrary::onednn, MatmulLibrary::mkl, MatmulLibrary::amx, MatmulLibrary::vector);
    if (!has(library)) SKIP_TEST(kind_of_missing(library), "");
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
        for (const auto& [T, I, O] : sizes) {
            CAPTURE(name_of(library), type, T, I, O);
            Linear linear(T, I, O);
            use_matmul_libraries({{{LinearMatmul::weight_gradient, O, I}, library}});
            const at::Tensor spoilt = at::full({O, I}, std::nan(""), type), zeros = at::zeros({O, I}, type);
            add_linear_weight_gradient(linear.dy_TO, linear.x_TI, spoilt, /*accumulate=*/false);
            add_linear_weight_gradient(linear.dy_TO, linear.x_TI, zeros);
            use_matmul_libraries({});
            CHECK(at::equal(spoilt, zeros));
        }
}

TEST_CASE("MKL and our own kernels accumulate a weight gradient in fp32, where oneDNN rounds it to bf16 first") {
    if (!has_bf16_matmul()) SKIP_TEST(testing::skip::no_bf16, "");
    const Linear linear(130, 256, 64);
    const at::Tensor should = linear.fp64().d_weight_OI;
    for (const MatmulLibrary library : {MatmulLibrary::mkl, MatmulLibrary::amx, MatmulLibrary::vector})
        if (has(library)) CHECK(error(linear.by(library).d_weight_OI, should) < 1e-6);
    CHECK(error(linear.by(MatmulLibrary::onednn).d_weight_OI, should) > 1e-4);
}

TEST_CASE("matmuls with AMX have the same bits on one thread and on several") {
    if (!has(MatmulLibrary::amx)) SKIP_TEST(testing::skip::no_amx, "");
    const Linear linear(700, 600, 1100);  // several blocks, none of them full at the edges
    const Matmuls on_all = linear.by(MatmulLibrary::amx);
    const int all = at::get_num_threads();
    for (const int threads : {1, 3, 5}) {  // up to three, each packs the weights that it needs: these are three parts
        CAPTURE(threads);
        at::set_num_threads(threads);
        const Matmuls other = linear.by(MatmulLibrary::amx);
        at::set_num_threads(all);
        CHECK(at::equal(other.y_TO, on_all.y_TO));
        CHECK(at::equal(other.dx_TI, on_all.dx_TI));
        CHECK(at::equal(other.d_weight_OI, on_all.d_weight_OI));
    }
}

TEST_CASE("a choice of library applies only to its matmul and shape") {
    const LinearShape shape{LinearMatmul::forward, 192, 64};
    use_matmul_libraries({{shape, MatmulLibrary::mkl}, {{LinearMatmul::forward, 64, 64}, MatmulLibrary::onednn}});
    CHECK((matmul_library(shape) == MatmulLibrary::mkl) == has(MatmulLibrary::mkl));
    CHECK((matmul_library({LinearMatmul::input_gradient, 192, 64}) == default_matmul_library()));
    CHECK((matmul_library({LinearMatmul::forward, 64, 192}) == default_matmul_library()));
    CHECK((matmul_library({LinearMatmul::forward, 64, 64}) == MatmulLibrary::onednn));
    use_matmul_libraries({});
    CHECK((matmul_library(shape) == default_matmul_library()));
}

TEST_CASE("a shape is read back from its name, and other strings are refused") {
    for (const LinearMatmul kind : {LinearMatmul::forward, LinearMatmul::input_gradient, LinearMatmul::weight_gradient}) {
        const LinearShape shape{kind, 30528, 1024};
        CHECK((linear_shape_of(name_of(shape)) == shape));
    }
    CHECK(name_of(LinearShape{LinearMatmul::weight_gradient, 4096, 1024}) == "weight_gradient 4096x1024");
    for (const char* name : {"", "forward", "forward ", "forward 3", "forward 3x", "forward x3", "forward 3x4 ", "forwards 3x4",
                             "backward 3x4", "forward 3x99999999999999999999", "forward  3x4"})
        CHECK_THROWS_AS(linear_shape_of(name), std::invalid_argument);
}

TEST_CASE("a library is read back from its name, and other strings are refused") {
    for (const MatmulLibrary library : {MatmulLibrary::onednn, MatmulLibrary::mkl, MatmulLibrary::amx, MatmulLibrary::vector})
        CHECK((matmul_library_of(name_of(library)) == library));
    for (const char* name : {"", "oneDNN", "tile", "mkl "}) CHECK_THROWS_AS(matmul_library_of(name), std::invalid_argument);
}
