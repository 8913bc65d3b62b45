#include "shards/dynamic_masking.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace bertpretrain {

DynamicMasking dynamic_masking(const Vocabulary& vocabulary, double rate, bool whole_words, bool masks_specials,
                               std::int64_t sequence_length, std::int64_t model_vocab_size, std::uint64_t seed) {
    DynamicMasking rules{
        masking_settings(vocabulary.require_specials(), rate, std::numeric_limits<std::int64_t>::max(), whole_words),
        vocabulary.specials(), vocabulary.size(), seed};
    rules.masking.special_tokens = masks_specials;
    rules.masking.max_predictions = prediction_count(sequence_length, rules.masking);
    const auto ids = static_cast<std::size_t>(std::max<std::int64_t>(model_vocab_size, vocabulary.size()));
    for (std::vector<std::uint8_t>* of_id : {&rules.masking.continues_word, &rules.masking.ends_word})
        if (!of_id->empty()) of_id->resize(ids);
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

MaskedTokens mask_again(std::span<std::int32_t> tokens, std::int64_t number, const DynamicMasking& rules) {
    if (tokens.empty() || tokens.front() != rules.special_ids.cls)
        throw DataError(concat("sample ", number, " begins with ", tokens.empty() ? "no token" : concat("token ", tokens.front()),
                               ", expected [CLS], which is ", rules.special_ids.cls, " in the vocabulary",
                               "\n  do: set data.vocabulary to the one that the shards were made with"));
    StreamRng rng(RandomSequence(rules.seed, Purpose::dynamic_masking, static_cast<std::uint64_t>(number)));
    return mask_tokens(tokens, rules.masking, rules.special_ids, rules.vocabulary_size, rng);
}

}  // namespace bertpretrain
