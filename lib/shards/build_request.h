#pragma once

#include <memory>

#include "shards/sample.h"
#include "shards/shard_builder.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

/// @throws ConfigError naming the first setting that cannot work, before anything is written
void check_request(const ShardBuildSettings& settings);

/// The tokenizer that the settings ask for.
WordPiece make_tokenizer(const SampleSettings& settings, std::shared_ptr<const Vocabulary> vocabulary);

/// What the settings mean for every sample.
SampleRules sample_rules(const SampleSettings& settings, const Vocabulary& vocabulary);

}  // namespace bertpretrain
