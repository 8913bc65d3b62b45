#pragma once

#include <filesystem>
#include <memory>

#include "shards/build/sample.h"
#include "shards/build/shard_build.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

/// Checks all settings before anything is written. @throws ConfigError naming the first invalid setting
void check_request(const ShardBuildSettings& settings);

/// Returns the default number of masked tokens per row: the smallest multiple of four that covers the share to mask of a full
/// row. With 15 % that is 20 of 128 tokens and 80 of 512, as in BERT's recipes.
std::int64_t default_max_predictions(const SampleSettings& samples);

/// Opens the tokenizer for rows with these settings. @throws ConfigError if a tokenizer with its own rules cannot be used with
/// them, drops white space that they keep, or has no token for a role
std::shared_ptr<const Tokenizer> make_tokenizer(const SampleSettings& settings, const std::filesystem::path& vocabulary);

/// Converts the settings to the rules by which samples are made.
SampleRules sample_rules(const SampleSettings& settings, const Vocabulary& vocabulary);

}  // namespace bertpretrain
