#pragma once

#include <memory>

#include "shards/sample.h"
#include "shards/shard_build.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

/// Checks all settings before anything is written. @throws ConfigError naming the first invalid setting
void check_request(const ShardBuildSettings& settings);

/// Returns the default number of masked tokens per row: the smallest multiple of four that covers the share to mask of a full
/// row. With 15 % that is 20 of 128 tokens and 80 of 512, as in BERT's recipes.
std::int64_t default_max_predictions(const SampleSettings& samples);

/// Returns the tokenizer that the settings describe.
WordPiece make_tokenizer(const SampleSettings& settings, std::shared_ptr<const Vocabulary> vocabulary);

/// Converts the settings to the rules by which samples are made.
SampleRules sample_rules(const SampleSettings& settings, const Vocabulary& vocabulary);

}  // namespace bertpretrain
