#pragma once
// What commands print on standard output when they are done.

#include "shards/build/shard_build.h"
#include "text/extract_counts.h"

namespace bertpretrain {

/// Prints a table, or with `json` a JSON object on one line.
void print_summary(const ExtractCounts& counts, bool json);
void print_summary(const ShardBuildReport& report, bool json);

}  // namespace bertpretrain
