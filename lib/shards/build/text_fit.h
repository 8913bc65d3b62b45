#pragma once
// Judges by a sample, before shards are written, whether a vocabulary and the rows' length fit a text.

#include <cstddef>

#include "shards/build/shard_build.h"
#include "shards/build/text_articles.h"
#include "tokens/models/tokenizer.h"
#include "tokens/models/unknown_tokens.h"

namespace bertpretrain {

struct TextFit {
    UnknownTokens unknown;
    std::int64_t beyond_row = 0;  ///< tokens of sentences beyond the first `room` ones
};

/// Tokenizes about 8 MiB of the text, evenly spread; all of a smaller one.
/// @param samples how long rows are, and whether white space is kept
TextFit fit_of(const TextArticles& articles, const Tokenizer& tokenizer, const SampleSettings& samples, std::size_t threads);

/// Warns where more than 1 % of a text's tokens are unknown, or where rows for next sentences cut off as much of it.
/// @throws DataError where more than `settings.most_unknown` are unknown
void judge(const TextFit& fit, const Vocabulary& vocabulary, const ShardBuildSettings& settings);

}  // namespace bertpretrain
