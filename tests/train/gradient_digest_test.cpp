// Equal bits have equal digests, and each change of one bit changes the digest.
#include "train/audit/cross_check/gradient_digest.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

std::uint64_t digest(const at::Tensor& tensor) { return static_cast<std::uint64_t>(digest_of(tensor).item<std::int64_t>()); }

/// The definition as a plain loop.
template <class Integer>
std::uint64_t expected(const at::Tensor& tensor) {
    const auto* const bits = static_cast<const Integer*>(tensor.const_data_ptr());
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(tensor.numel()); ++i)
        sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(bits[i])) * ((i * 0x9E3779B97F4A7C15) | 1);
    return sum;
}

}  // namespace

TEST_CASE("a digest is the weighted sum of the elements' bits, for each dtype and any number of threads") {
    const at::Tensor values = at::randn({257, 801});
    const int threads = at::get_num_threads();
    for (const int used : {1, 2, 5}) {
        at::set_num_threads(used);
        CHECK(digest(values) == expected<std::int32_t>(values));
        const at::Tensor narrow = values.to(at::kBFloat16), wide = values.to(at::kDouble);
        CHECK(digest(narrow) == expected<std::int16_t>(narrow));
        CHECK(digest(wide) == expected<std::int64_t>(wide));
    }
    at::set_num_threads(threads);
}

TEST_CASE("a digest changes with any bit of any element, and when two elements are exchanged") {
    const at::Tensor values = at::randn({100});
    const std::uint64_t before = digest(values);
    auto* const bits = static_cast<std::uint32_t*>(values.mutable_data_ptr());
    for (std::int64_t i = 0; i < values.numel(); ++i)
        for (int bit = 0; bit < 32; ++bit) {
            bits[i] ^= std::uint32_t{1} << bit;
            CHECK(digest(values) != before);
            bits[i] ^= std::uint32_t{1} << bit;
        }
    std::swap(bits[3], bits[70]);
    CHECK(digest(values) != before);
    std::swap(bits[3], bits[70]);
    CHECK(digest(values) == before);
}

TEST_CASE("0 and -0 have different digests, though they compare equal") {
    CHECK(digest(at::zeros({4})) != digest(-at::zeros({4})));
}
