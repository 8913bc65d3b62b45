#pragma once
// Whole texts as a batch whose logits are computed at every position.

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "batches/build_batch.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain::testing {

/// Returns the ids of a text as one segment, with [CLS] and [SEP].
inline std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, const std::string& text) {
    std::vector<std::int32_t> ids{tokenizer.vocabulary().specials().cls};
    tokenizer.encode(text, ids);
    ids.push_back(tokenizer.vocabulary().specials().sep);
    return ids;
}

/// Returns a batch of texts, one sequence each, in which all positions count as masked, so that Bert::logits() returns all of
/// them.
inline MicroBatch batch_of_texts(const std::vector<std::vector<std::int32_t>>& texts) {
    UnpaddedSamples samples;
    for (const std::vector<std::int32_t>& ids : texts) {
        samples.numbers_B.push_back(static_cast<std::int64_t>(samples.numbers_B.size()));
        samples.lengths_B.push_back(static_cast<std::int64_t>(ids.size()));
        samples.input_ids_T.insert(samples.input_ids_T.end(), ids.begin(), ids.end());
    }
    samples.masked_rows_M.resize(samples.input_ids_T.size());
    std::iota(samples.masked_rows_M.begin(), samples.masked_rows_M.end(), std::int64_t{0});
    samples.masked_labels_M.resize(samples.masked_rows_M.size());
    return build_batch(samples);
}

}  // namespace bertpretrain::testing
