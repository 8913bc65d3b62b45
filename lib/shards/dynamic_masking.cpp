#include "shards/dynamic_masking.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace bertpretrain {

DynamicMasking dynamic_masking(const Vocabulary& vocabulary, double rate, bool whole_words, std::int64_t sequence_length,
                               std::int64_t model_vocab_size, std::uint64_t seed) {
    DynamicMasking rules{
        masking_settings(vocabulary.require_specials(), rate, std::numeric_limits<std::int64_t>::max(), whole_words),
        vocabulary.specials(), vocabulary.size(), seed};
    rules.masking.max_predictions = prediction_count(sequence_length, rules.masking);
    if (whole_words)
        rules.masking.continues_word.resize(
            static_cast<std::size_t>(std::max<std::int64_t>(model_vocab_size, vocabulary.size())));
    return rules;
}

void restore_text(ShardRows& rows) {
    for (std::int64_t r = 0; r < rows.rows; ++r)
        for (std::int64_t p = 0; p < rows.max_predictions; ++p) {
            const auto at = static_cast<std::size_t>(r * rows.max_predictions + p);
            const std::int32_t position = rows.masked_lm_positions_RP[at];
            if (position == 0) break;
            rows.input_ids_RS[static_cast<std::size_t>(r * rows.sequence_length + position)] = rows.masked_lm_ids_RP[at];
        }
    std::fill(rows.masked_lm_positions_RP.begin(), rows.masked_lm_positions_RP.end(), 0);
    std::fill(rows.masked_lm_ids_RP.begin(), rows.masked_lm_ids_RP.end(), 0);
}

ShardRows mask_again(ShardRows rows, std::span<const std::int64_t> numbers_R, const DynamicMasking& rules) {
    check(static_cast<std::int64_t>(numbers_R.size()) == rows.rows, "each row has a number, but there are ", numbers_R.size(),
          " for ", rows.rows, " rows");
    restore_text(rows);
    const std::int64_t S = rows.sequence_length, P = std::min(rules.masking.max_predictions, S);
    rows.max_predictions = P;
    rows.masked_lm_positions_RP.assign(static_cast<std::size_t>(rows.rows * P), 0);
    rows.masked_lm_ids_RP.assign(static_cast<std::size_t>(rows.rows * P), 0);
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        const std::int8_t* mask_S = rows.input_mask_RS.data() + r * S;
        const auto length = static_cast<std::size_t>(std::find(mask_S, mask_S + S, std::int8_t{0}) - mask_S);
        if (length == 0 || rows.input_ids_RS[static_cast<std::size_t>(r * S)] != rules.special_ids.cls)
            throw DataError(concat("sample ", numbers_R[static_cast<std::size_t>(r)], " begins with token ",
                                   rows.input_ids_RS[static_cast<std::size_t>(r * S)], ", expected [CLS], which is ",
                                   rules.special_ids.cls, " in the vocabulary",
                                   "\n  do: set data.vocabulary to the one that the shards were made with"));
        const auto number = static_cast<std::uint64_t>(numbers_R[static_cast<std::size_t>(r)]);
        StreamRng rng(RandomSequence(rules.seed, Purpose::dynamic_masking, number));
        const MaskedTokens masked = mask_tokens(std::span(rows.input_ids_RS.data() + r * S, length), rules.masking,
                                                rules.special_ids, rules.vocabulary_size, rng);
        std::copy(masked.positions.begin(), masked.positions.end(), rows.masked_lm_positions_RP.begin() + r * P);
        std::copy(masked.labels.begin(), masked.labels.end(), rows.masked_lm_ids_RP.begin() + r * P);
    }
    return rows;
}

}  // namespace bertpretrain
