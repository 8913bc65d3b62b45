#include "kernels/reference/dropout_factors.h"

#include <vector>

#include <ATen/ATen.h>

namespace bertpretrain::reference {
namespace {

constexpr std::int64_t low_word = 0xFFFFFFFF;

/// Philox on words in int64 tensors. The multiplication wraps in int64, which keeps the bits right.
struct PhiloxTensor {
    static void multiply(std::uint32_t factor, const at::Tensor& word, at::Tensor& upper, at::Tensor& lower) {
        const at::Tensor product = word * std::int64_t{factor};
        upper = product.bitwise_right_shift(32).bitwise_and(low_word);
        lower = product.bitwise_and(low_word);
    }
    static void combine(const at::Tensor& a, const at::Tensor& b, std::uint32_t key, at::Tensor& result) {
        result = a.bitwise_xor(b).bitwise_xor(std::int64_t{key});
    }
};

}  // namespace

at::Tensor dropout_factors(const Dropout& dropout, const at::Tensor& sample_R, const at::Tensor& position_R,
                           const at::Tensor& group_base_R, std::int64_t elements) {
    const std::int64_t blocks = (elements + dropout_block_elements - 1) / dropout_block_elements, R = sample_R.numel();
    const std::int64_t groups = blocks * dropout_block_groups;
    const at::Tensor groups_G = at::arange(groups, sample_R.options());
    at::Tensor words_RG[4] = {
        group_base_R.unsqueeze(1) + groups_G,
        position_R.bitwise_or(std::int64_t{dropout.site} << 16).unsqueeze(1).expand({R, groups}),
        sample_R.bitwise_and(low_word).unsqueeze(1).expand({R, groups}),
        sample_R.bitwise_right_shift(32).bitwise_and(low_word).unsqueeze(1).expand({R, groups}),
    };
    philox_words<PhiloxTensor>(words_RG, {dropout.key[0], dropout.key[1]});
    std::vector<at::Tensor> halves;
    for (const at::Tensor& word : words_RG) {
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
