#pragma once

#include "shards/build/shard_build.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

/// Implements build_shards() where `compatible_with` names a script: one shard per text. Processes texts in parallel, but each
/// text's samples on one thread, because they come from one generator.
ShardBuildReport build_reference_shards(const ShardBuildSettings& settings, const Tokenizer& tokenizer);

}  // namespace bertpretrain
