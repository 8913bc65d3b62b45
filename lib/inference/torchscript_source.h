#pragma once
// The source of BERT's forward pass in TorchScript, for each norm placement; exported files contain it.

#include <string>

#include "model/bert_config.h"

namespace bertpretrain {

/// Returns the methods of one encoder layer; its parameters' names are relative to "bert.encoder.layer.N.":
///     forward(hidden: B x S x H, residual: B x S x H, mask: B x 1 x 1 x S of bool or None) -> (hidden, residual)
std::string torchscript_layer(const BertConfig& config);

/// Returns the methods of the whole model:
///     encode(input_ids: B x S, attention_mask: B x S or None, token_type_ids: B x S or None) -> B x S x H
///     pool(hidden: B x S x H) -> B x H
///     mean(hidden: B x S x H, attention_mask: B x S) -> B x H, over each text's own tokens
///     forward(the arguments of encode) -> (hidden, pooled)
///     pretraining(the arguments of encode) -> (prediction_logits: B x S x V, seq_relationship_logits: B x 2)
/// Without `has_heads`, pretraining() is missing. A model without BertConfig::next_sentence has no pool(); its forward() returns
/// hidden, its pretraining() prediction_logits.
std::string torchscript_model(const BertConfig& config, bool has_heads = true);

}  // namespace bertpretrain
