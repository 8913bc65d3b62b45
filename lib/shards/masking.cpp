#include "shards/masking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bertpretrain {
namespace {

/// Returns the maskable tokens, grouped into words if whole words are masked. A word always ends at [CLS], where a document of a
/// packed row begins.
MaskUnits units_of(std::span<const std::int32_t> tokens, const MaskingSettings& settings, const SpecialIds& special_ids) {
    MaskUnits units;
    units.positions.reserve(tokens.size());
    bool begins = true;
    std::int32_t run = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i] == special_ids.cls || tokens[i] == special_ids.sep) {
            begins = begins || settings.separator_ends_word || tokens[i] == special_ids.cls;
            ++run;
            continue;
        }
        const auto token = static_cast<std::size_t>(tokens[i]);
        const bool is_single = settings.continues_word.empty();
        if (begins || is_single || settings.continues_word[token] == 0) {
            units.begins.push_back(static_cast<std::int32_t>(units.positions.size()));
            units.runs.push_back(run);
        }
        units.positions.push_back(static_cast<std::int32_t>(i));
        begins = !settings.ends_word.empty() && settings.ends_word[token] != 0;
    }
    units.begins.push_back(static_cast<std::int32_t>(units.positions.size()));
    return units;
}

/// Returns `wanted` positions, or fewer if no word is short enough for the rest, in the order in which they were drawn.
std::vector<std::int32_t> choose_words(const MaskUnits& words, std::size_t wanted, Rng& rng) {
    std::vector<std::int32_t> order(words.size()), chosen;
    std::iota(order.begin(), order.end(), 0);
    rng.choose(order, order.size());
    for (const std::int32_t word : order) {
        if (chosen.size() >= wanted) break;
        const auto positions = words[static_cast<std::size_t>(word)];
        if (chosen.size() + positions.size() <= wanted) chosen.insert(chosen.end(), positions.begin(), positions.end());
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

std::vector<std::int32_t> choose_positions(std::span<const std::int32_t> tokens, std::size_t wanted,
                                           const MaskingSettings& settings, const SpecialIds& special_ids, Rng& rng) {
    if (settings.spans.longest > 1) return choose_spans(units_of(tokens, settings, special_ids), wanted, settings.spans, rng);
    if (settings.continues_word.empty()) return choose_tokens(tokens, wanted, settings, special_ids, rng);
    return choose_words(units_of(tokens, settings, special_ids), wanted, rng);
}

}  // namespace

MaskingSettings masking_settings(const Vocabulary& vocabulary, double probability, std::int64_t max_predictions,
                                 bool whole_words) {
    MaskingSettings settings{probability, max_predictions};
    settings.separator_ends_word = vocabulary.separator_ends_word();
    if (vocabulary.has_own_rules()) settings.replacements = vocabulary.replacements();
    if (!whole_words) return settings;
    vocabulary.require_word_marks();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id)
        settings.continues_word.push_back(vocabulary.continues_word(id) ? 1 : 0);
    if (!vocabulary.marks_word_ends()) return settings;
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) settings.ends_word.push_back(vocabulary.ends_word(id) ? 1 : 0);
    return settings;
}

std::int64_t prediction_count(std::int64_t length, const MaskingSettings& settings) {
    const double wanted = std::nearbyint(static_cast<double>(length) * settings.probability);  // halves to even
    return std::min(settings.max_predictions, std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted)));
}

MaskedTokens mask_tokens(std::span<std::int32_t> tokens, const MaskingSettings& settings, const SpecialIds& special_ids,
                         std::int32_t vocabulary_size, Rng& rng) {
    const auto wanted = static_cast<std::size_t>(prediction_count(static_cast<std::int64_t>(tokens.size()), settings));
    const std::vector<std::int32_t> chosen = choose_positions(tokens, wanted, settings, special_ids, rng);
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
