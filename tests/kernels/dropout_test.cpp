#include "kernels/cpu/dropout_factors.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/kernel_inputs.h"
#include "kernels/reference/dropout_factors.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// The rule of kernels/dropout.h, written again as a loop.
std::vector<float> factors_by_rule(const Dropout& dropout, std::uint64_t sample, std::uint32_t position, std::uint32_t base,
                                   std::int64_t elements) {
    std::vector<float> factors;
    for (std::uint32_t e = 0; e < elements; ++e) {
        const PhiloxCounter words =
            philox(dropout.key, {base + e / 128 * 16 + e % 16, position | dropout.site << 16, static_cast<std::uint32_t>(sample),
                                 static_cast<std::uint32_t>(sample >> 32)});
        const std::uint32_t bits = words[e % 128 / 32] >> (e / 16 % 2 == 0 ? 0 : 16) & 0xFFFF;
        factors.push_back(bits < dropout.threshold() ? 0.0F : dropout.scale());
    }
    return factors;
}

struct Place {
    std::int64_t sample, position, base;
    std::uint32_t site;
};

}  // namespace

TEST_CASE("both implementations of dropout follow its rule bit for bit") {
    const std::vector<Place> places{
        {0, 0, 0, 0}, {7, 511, 3 * 8192, 9}, {(std::int64_t{1} << 40) + 4'000'000'000, 65535, 63 * 8192, 0xFFFF}};
    for (const double probability : {0.1, 0.5, 0.9})
        for (const Place& place : places)
            for (const std::int64_t elements : {1, 2, 7, 8, 9, 40, 127, 128, 129, 1000}) {
                CAPTURE(probability, place.sample, elements);
                const Dropout dropout = dropout_of(probability, Purpose::attention_dropout, place.site);
                const auto sample = static_cast<std::uint64_t>(place.sample);
                const auto position = static_cast<std::uint32_t>(place.position), base = static_cast<std::uint32_t>(place.base);
                const std::vector<float> expected = factors_by_rule(dropout, sample, position, base, elements);

                const auto one = [](std::int64_t value) { return at::full({1}, value, at::TensorOptions(at::kLong)); };
                const at::Tensor plain =
                    reference::dropout_factors(dropout, one(place.sample), one(place.position), one(place.base), elements);
                CHECK(std::vector<float>(plain.data_ptr<float>(), plain.data_ptr<float>() + elements) == expected);

                const std::int64_t room = (elements + 127) / 128 * 128;
                // The function that this processor uses, and the one for processors without AVX-512.
                for (const auto& fill : {cpu::fill_dropout_factors, cpu::dropout_factors}) {
                    std::vector<float> keep(static_cast<std::size_t>(room) + 1, -5.0F);
                    fill(dropout, sample, position, base, elements, keep.data());
                    CHECK(keep.back() == -5.0F);  // nothing is written after the promised room
                    keep.resize(static_cast<std::size_t>(elements));
                    CHECK(keep == expected);
                }
            }
}

TEST_CASE("dropout drops the requested fraction and preserves the mean") {
    const Ragged batch = ragged(std::vector<std::int64_t>(50, 40));
    const at::Tensor ones_TH = at::ones({batch.tokens(), 512});
    for (const double probability : {0.1, 0.9})
        for (const Operations& operations : both_implementations) {
            CAPTURE(probability, operations.name);
            const at::Tensor kept_TH = operations.dropout_rows(ones_TH, dropout_of(probability), batch.rows);
            const auto n = static_cast<double>(kept_TH.numel());
            const double dropped = kept_TH.eq(0).sum().item<double>() / n;
            // 5 standard deviations, plus the step of 1/65536 to which probabilities are rounded
            CHECK(std::abs(dropped - probability) < 5 * std::sqrt(probability * (1 - probability) / n) + 1.0 / 65536);
            CHECK(kept_TH.mean(at::kDouble).item<double>() ==
                  Approx(1).margin(6 * std::sqrt(probability / (1 - probability) / n)));
        }
}

TEST_CASE("a dropout mask depends only on sample, position and site, not on the batch") {
    const Ragged together = ragged({5, 1, 33}, 100), alone = ragged({33}, 102);
    const at::Tensor ones_TH = at::ones({39, 72});
    for (const Operations& operations : both_implementations) {
        const at::Tensor all_TH = operations.dropout_rows(ones_TH, dropout_of(0.3), together.rows);
        CHECK(same_bits(all_TH.narrow(0, 6, 33), operations.dropout_rows(ones_TH.narrow(0, 0, 33), dropout_of(0.3), alone.rows)));
        CHECK_FALSE(same_bits(all_TH.narrow(0, 0, 5), all_TH.narrow(0, 6, 5)));
        CHECK_FALSE(same_bits(all_TH[6], all_TH[7]));
        CHECK_FALSE(
            same_bits(all_TH, operations.dropout_rows(ones_TH, dropout_of(0.3, Purpose::hidden_dropout, 4), together.rows)));
        CHECK_FALSE(
            same_bits(all_TH, operations.dropout_rows(ones_TH, dropout_of(0.3, Purpose::attention_dropout), together.rows)));
    }
}

TEST_CASE("dropout with probability 0 returns the tensor itself") {
    const Ragged batch = ragged({3});
    const at::Tensor x_TH = RandomTensors(1).normal({3, 40});
    for (const Operations& operations : both_implementations)
        CHECK(operations.dropout_rows(x_TH, dropout_of(0), batch.rows).is_same(x_TH));
}
