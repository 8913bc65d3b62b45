#include "shards/sample.h"

#include <algorithm>

namespace bertpretrain {

std::vector<Sample> make_samples(const std::vector<Document>& documents, std::size_t document, std::uint64_t document_number,
                                 const SampleRules& rules) {
    std::vector<Sample> samples;
    for (std::uint32_t duplicate = 0; duplicate < rules.duplicate_factor; ++duplicate) {
        StreamDice pair_dice(RandomSequence(rules.seed, Purpose::sentence_pairs, document_number, duplicate));
        StreamDice mask_dice(RandomSequence(rules.seed, Purpose::masking, document_number, duplicate));
        build_pairs(documents, document, rules.pairs, rules.special_ids, pair_dice, [&](SentencePair pair) {
            Sample sample{std::move(pair), {}};
            sample.masked = mask_tokens(sample.pair.tokens, rules.masking, rules.special_ids, rules.vocabulary_size, mask_dice);
            samples.push_back(std::move(sample));
        });
    }
    return samples;
}

ShardRows to_rows(std::span<const Sample* const> samples, std::int64_t sequence_length, std::int64_t max_predictions) {
    const std::size_t R = samples.size(), S = static_cast<std::size_t>(sequence_length),
                      P = static_cast<std::size_t>(max_predictions);
    ShardRows rows{static_cast<std::int64_t>(R), sequence_length, max_predictions, {}, {}, {}, {}, {}, {}};
    rows.input_ids_RS.resize(R * S);
    rows.input_mask_RS.resize(R * S);
    rows.segment_ids_RS.resize(R * S);
    rows.masked_lm_positions_RP.resize(R * P);
    rows.masked_lm_ids_RP.resize(R * P);
    rows.next_sentence_labels_R.resize(R);
    for (std::size_t r = 0; r < R; ++r) {
        const auto& [pair, masked] = *samples[r];
        const auto begin = static_cast<std::ptrdiff_t>(r * S), length = static_cast<std::ptrdiff_t>(pair.tokens.size());
        std::copy(pair.tokens.begin(), pair.tokens.end(), rows.input_ids_RS.begin() + begin);
        std::fill_n(rows.input_mask_RS.begin() + begin, length, std::int8_t{1});
        std::fill_n(rows.segment_ids_RS.begin() + begin + pair.first_segment, length - pair.first_segment, std::int8_t{1});
        const auto list = static_cast<std::ptrdiff_t>(r * P);
        std::copy(masked.positions.begin(), masked.positions.end(), rows.masked_lm_positions_RP.begin() + list);
        std::copy(masked.labels.begin(), masked.labels.end(), rows.masked_lm_ids_RP.begin() + list);
        rows.next_sentence_labels_R[r] = pair.is_random_next ? 1 : 0;
    }
    return rows;
}

}  // namespace bertpretrain
