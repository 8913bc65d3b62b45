#pragma once

#include <memory>

#include "shards/shard_builder.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

/// Implements build_shards() where `compatible_with` names a script: one shard per text. Processes texts in parallel, but each
/// text's samples on one thread, because they come from one generator.
ShardBuildReport build_reference_shards(const ShardBuildSettings& settings, std::shared_ptr<const Vocabulary> vocabulary);

}  // namespace bertpretrain
