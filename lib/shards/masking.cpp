#include "shards/masking.h"

#include <algorithm>
#include <cmath>

namespace bertpretrain {

std::int64_t prediction_count(std::int64_t length, const MaskingSettings& settings) {
    const double wanted = std::nearbyint(static_cast<double>(length) * settings.probability);  // halves to even
    return std::min(settings.max_predictions, std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted)));
}

MaskedTokens mask_tokens(std::vector<std::int32_t>& tokens, const MaskingSettings& settings, const SpecialIds& special_ids,
                         std::int32_t vocabulary_size, Dice& dice) {
    std::vector<std::int32_t> candidates;
    candidates.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (tokens[i] != special_ids.cls && tokens[i] != special_ids.sep) candidates.push_back(static_cast<std::int32_t>(i));
    dice.shuffle(candidates);
    const std::int64_t wanted = prediction_count(static_cast<std::int64_t>(tokens.size()), settings);
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(wanted)));

    const std::vector<std::int32_t> original = tokens;
    for (const std::int32_t position : candidates) {
        std::int32_t& token = tokens[static_cast<std::size_t>(position)];
        if (dice.uniform() < 0.8) token = special_ids.mask;
        else if (dice.uniform() >= 0.5)
            token = static_cast<std::int32_t>(dice.below(static_cast<std::uint32_t>(vocabulary_size)));
    }
    std::sort(candidates.begin(), candidates.end());
    MaskedTokens masked;
    for (const std::int32_t position : candidates) masked.labels.push_back(original[static_cast<std::size_t>(position)]);
    masked.positions = std::move(candidates);
    return masked;
}

}  // namespace bertpretrain
