#pragma once

#include <memory>

#include "shards/sample.h"
#include "shards/shard_builder.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

/// Checks all settings before anything is written. @throws ConfigError naming the first invalid setting
void check_request(const ShardBuildSettings& settings);

/// Returns the tokenizer that the settings describe.
WordPiece make_tokenizer(const SampleSettings& settings, std::shared_ptr<const Vocabulary> vocabulary);

/// Converts the settings to the rules by which samples are made.
SampleRules sample_rules(const SampleSettings& settings, const Vocabulary& vocabulary);

}  // namespace bertpretrain
