#include "kernels/packed_weight.h"

#include "kernels/kernel_inputs.h"
#include "kernels/matmul.h"
#include "kernels/matmul_libraries.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("a packed weight gives the same matmul as the weight, for every number of rows") {
    RandomTensors random(5);
    const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16);
    for (const auto& [I, O] : {std::pair<std::int64_t, std::int64_t>{384, 1152}, {40, 72}, {8, 8}, {72, 40}}) {
        const at::Tensor weight_OI = (random.normal({O, I}) / std::sqrt(static_cast<double>(I))).to(type);
        const at::Tensor packed_OI = packed_weight(weight_OI);
        CHECK(is_packed(packed_OI) == (type == at::kFloat || has_bf16_matmul()));
        for (const std::int64_t T : {1, 7, 128, 1280}) {
            const at::Tensor x_TI = random.normal({T, I}, type),
                             expected_TO = x_TI.to(at::kDouble).mm(weight_OI.to(at::kDouble).t());
            const at::Tensor y_TO = linear_matmul(x_TI, packed_OI);
            CAPTURE(type, I, O, T);
            REQUIRE(y_TO.sizes() == expected_TO.sizes());
            CHECK(y_TO.scalar_type() == type);
            CHECK(y_TO.is_contiguous());
            const double error = (y_TO.to(at::kDouble) - expected_TO).abs().max().item<double>();
            CHECK(error < (type == at::kFloat ? 1e-5 : 0.02));
        }
    }
}

TEST_CASE("some rows of a matrix are packed without the others") {
    RandomTensors random(6);
    const at::Tensor all = random.normal({96, 64}), rows = all.narrow(0, 16, 40), x_TI = random.normal({9, 64});
    const at::Tensor error = linear_matmul(x_TI, packed_weight(rows)) - x_TI.mm(rows.t());
    CHECK(error.abs().max().item<double>() < 1e-4);
}
