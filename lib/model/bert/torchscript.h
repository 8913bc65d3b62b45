#pragma once
// The source of BERT's forward pass in TorchScript, for each norm placement; exported files contain it.

#include <vector>

#include "model/bert/config.h"
#include "model/torchscript_source.h"

namespace bertpretrain {

/// The encoder layers, bert.encoder.layer.N:
///     forward(hidden: B x S x H, residual: B x S x H, mask: B x 1 x 1 x S of bool or None) -> (hidden, residual)
/// and the whole model (model/torchscript_source.h).
std::vector<TorchscriptModule> torchscript_of(const BertConfig& config, bool has_heads);

}  // namespace bertpretrain
