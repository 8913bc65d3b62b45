#pragma once
// Divides the samples of a micro-batch by source.

#include <cstddef>
#include <span>
#include <vector>

#include "batches/micro_batch.h"
#include "batches/unpadded_samples.h"

namespace bertpretrain {

/// @param samples_B one in each element
/// @param sources_B the source of each sample, ascending
std::vector<SourcePart> source_parts(std::span<const UnpaddedSamples> samples_B, std::span<const std::size_t> sources_B);

}  // namespace bertpretrain
