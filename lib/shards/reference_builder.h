#pragma once

#include <memory>

#include "shards/shard_builder.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

/// build_shards() where `compatible_with` names a script: a shard per text. Texts are worked on side by side, each text's samples
/// by one thread, for they hang on one generator.
ShardBuildReport build_reference_shards(const ShardBuildSettings& settings, std::shared_ptr<const Vocabulary> vocabulary);

}  // namespace bertpretrain
