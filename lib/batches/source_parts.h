#pragma once
// Divides the samples of a micro-batch by source.

#include <cstddef>
#include <span>
#include <vector>

#include "batches/micro_batch.h"
#include "batches/unpadded_samples.h"

namespace bertpretrain {

/// @param samples with masked rows in the order of the samples
/// @param sources_B the source of each sample, ascending
std::vector<SourcePart> source_parts(const UnpaddedSamples& samples, std::span<const std::size_t> sources_B);

}  // namespace bertpretrain
