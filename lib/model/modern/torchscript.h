#pragma once
// The source of a modern encoder's forward pass in TorchScript; exported files contain it.

#include <vector>

#include "model/modern/design.h"
#include "model/torchscript_source.h"

namespace bertpretrain::modern {

/// The encoder layers, model.layers.N:
///     forward(residual: B x S x H, mask: B x 1 x S x S of bool, B x 1 x 1 x S or None, cosines: S x D / 2, sines) -> residual
/// and the whole model (model/torchscript_source.h). Token types are ignored.
std::vector<TorchscriptModule> torchscript_of(const Design& design, bool has_heads);

}  // namespace bertpretrain::modern
