#pragma once
// Batches of few different sizes.

#include "batches/micro_batch.h"

namespace bertpretrain {

/// The same batch with tokens that belong to no sequence and masked slots whose label is -1 added at the end, up to multiples
/// of fixed numbers. Such tokens reach no loss, and their gradients are exactly zero. It is done because libraries prepare (and
/// keep) code for every size of product they meet, and the number of real tokens is another one in each batch; later a CUDA graph
/// needs it too.
MicroBatch fill_up(const MicroBatch& batch);

}  // namespace bertpretrain
