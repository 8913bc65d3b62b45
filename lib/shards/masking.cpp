#include "shards/masking.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bertpretrain {
namespace {

/// The maskable tokens grouped into words: word w is at positions[begins[w]] up to, not including, positions[begins[w + 1]].
struct Words {
    std::vector<std::int32_t> positions, begins;
};

/// A word always ends at [CLS], where a document of a packed row begins.
Words words_of(std::span<const std::int32_t> tokens, const MaskingSettings& settings, const SpecialIds& special_ids) {
    Words words;
    words.positions.reserve(tokens.size());
    bool begins = true;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i] == special_ids.cls || tokens[i] == special_ids.sep) {
            begins = begins || settings.separator_ends_word || tokens[i] == special_ids.cls;
            continue;
        }
        if (std::exchange(begins, false) || settings.continues_word[static_cast<std::size_t>(tokens[i])] == 0)
            words.begins.push_back(static_cast<std::int32_t>(words.positions.size()));
        words.positions.push_back(static_cast<std::int32_t>(i));
    }
    words.begins.push_back(static_cast<std::int32_t>(words.positions.size()));
    return words;
}

/// Returns `wanted` positions, or fewer if no word is short enough for the rest, in the order in which they were drawn.
std::vector<std::int32_t> choose_words(std::span<const std::int32_t> tokens, std::size_t wanted, const MaskingSettings& settings,
                                       const SpecialIds& special_ids, Rng& rng) {
    const Words words = words_of(tokens, settings, special_ids);
    std::vector<std::int32_t> order(words.begins.size() - 1), chosen;
    std::iota(order.begin(), order.end(), 0);
    rng.choose(order, order.size());
    for (const std::int32_t word : order) {
        if (chosen.size() >= wanted) break;
        const auto begin = words.positions.begin() + words.begins[static_cast<std::size_t>(word)];
        const auto end = words.positions.begin() + words.begins[static_cast<std::size_t>(word) + 1];
        if (chosen.size() + static_cast<std::size_t>(end - begin) <= wanted) chosen.insert(chosen.end(), begin, end);
    }
    return chosen;
}

std::vector<std::int32_t> choose_tokens(std::span<const std::int32_t> tokens, std::size_t wanted, const MaskingSettings& settings,
                                        const SpecialIds& special_ids, Rng& rng) {
    std::vector<std::int32_t> positions;
    positions.reserve(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (settings.special_tokens || (tokens[i] != special_ids.cls && tokens[i] != special_ids.sep))
            positions.push_back(static_cast<std::int32_t>(i));
    wanted = std::min(wanted, positions.size());
    rng.choose(positions, wanted);
    positions.resize(wanted);
    return positions;
}

}  // namespace

MaskingSettings masking_settings(const Vocabulary& vocabulary, double probability, std::int64_t max_predictions,
                                 bool whole_words) {
    MaskingSettings settings{probability, max_predictions};
    settings.separator_ends_word = vocabulary.marks_word_starts();
    if (vocabulary.has_own_rules()) settings.replacements = vocabulary.replacements();
    if (whole_words)
        for (std::int32_t id = 0; id < vocabulary.size(); ++id)
            settings.continues_word.push_back(vocabulary.continues_word(id) ? 1 : 0);
    return settings;
}

std::int64_t prediction_count(std::int64_t length, const MaskingSettings& settings) {
    const double wanted = std::nearbyint(static_cast<double>(length) * settings.probability);  // halves to even
    return std::min(settings.max_predictions, std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted)));
}

MaskedTokens mask_tokens(std::span<std::int32_t> tokens, const MaskingSettings& settings, const SpecialIds& special_ids,
                         std::int32_t vocabulary_size, Rng& rng) {
    const auto wanted = static_cast<std::size_t>(prediction_count(static_cast<std::int64_t>(tokens.size()), settings));
    std::vector<std::int32_t> chosen = settings.continues_word.empty() ? choose_tokens(tokens, wanted, settings, special_ids, rng)
                                                                       : choose_words(tokens, wanted, settings, special_ids, rng);
    MaskedTokens masked{chosen, std::vector<std::int32_t>(chosen.size())};
    std::sort(masked.positions.begin(), masked.positions.end());
    for (std::size_t p = 0; p < chosen.size(); ++p) masked.labels[p] = tokens[static_cast<std::size_t>(masked.positions[p])];
    const std::vector<std::int32_t>& replacements = settings.replacements;
    const auto replacement = [&] {
        if (replacements.empty()) return static_cast<std::int32_t>(rng.below(static_cast<std::uint32_t>(vocabulary_size)));
        return replacements[rng.below(static_cast<std::uint32_t>(replacements.size()))];
    };
    for (const std::int32_t position : chosen) {
        std::int32_t& token = tokens[static_cast<std::size_t>(position)];
        if (rng.uniform() < 0.8) token = special_ids.mask;
        else if (rng.uniform() >= 0.5) token = replacement();
    }
    return masked;
}

}  // namespace bertpretrain
