#include "kernels/reference/dropout_factors.h"

#include <array>

#include <ATen/ATen.h>

namespace bertpretrain::reference {
namespace {

constexpr std::int64_t low_word = 0xFFFFFFFF;

/// Upper and lower 32 bits of word * factor. The multiplication wraps in int64, which keeps the bits right.
std::pair<at::Tensor, at::Tensor> wide_product(const at::Tensor& word, std::int64_t factor) {
    const at::Tensor product = word * factor;
    return {product.bitwise_right_shift(32).bitwise_and(low_word), product.bitwise_and(low_word)};
}

}  // namespace

at::Tensor dropout_factors(const Dropout& dropout, const at::Tensor& sample_R, const at::Tensor& position_R,
                           const at::Tensor& group_base_R, std::int64_t elements) {
    const std::int64_t blocks = (elements + dropout_block_elements - 1) / dropout_block_elements, R = sample_R.numel();
    const std::int64_t groups = blocks * dropout_block_groups;
    const at::Tensor groups_G = at::arange(groups, sample_R.options());
    std::array<at::Tensor, 4> counter_RG{
        group_base_R.unsqueeze(1) + groups_G,
        position_R.bitwise_or(std::int64_t{dropout.site} << 16).unsqueeze(1).expand({R, groups}),
        sample_R.bitwise_and(low_word).unsqueeze(1).expand({R, groups}),
        sample_R.bitwise_right_shift(32).bitwise_and(low_word).unsqueeze(1).expand({R, groups}),
    };
    PhiloxKey key = dropout.key;
    for (int round = 0; round < 10; ++round) {
        const auto [a_high, a_low] = wide_product(counter_RG[0], 0xD2511F53);
        const auto [b_high, b_low] = wide_product(counter_RG[2], 0xCD9E8D57);
        counter_RG = {b_high.bitwise_xor(counter_RG[1]).bitwise_xor(std::int64_t{key[0]}), b_low,
                      a_high.bitwise_xor(counter_RG[3]).bitwise_xor(std::int64_t{key[1]}), a_low};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    std::vector<at::Tensor> halves;
    for (const at::Tensor& word : counter_RG) {
        halves.push_back(word.bitwise_and(0xFFFF));
        halves.push_back(word.bitwise_right_shift(16));
    }
    // Axes (R, blocks, half-words, groups of a block) give the order of elements.
    const at::Tensor bits_RE = at::stack(halves, 2)
                                   .reshape({R, blocks, dropout_block_groups, 8})
                                   .transpose(2, 3)
                                   .reshape({R, blocks * dropout_block_elements})
                                   .narrow(1, 0, elements);
    return bits_RE.ge(static_cast<std::int64_t>(dropout.threshold())).to(at::kFloat) * dropout.scale();
}

}  // namespace bertpretrain::reference
