#pragma once
// A model's forward pass as TorchScript, which exported files contain.

#include <string>

namespace bertpretrain {

/// The methods of one module. Those of the whole model, whose name is empty, are
///     encode(input_ids: B x S, attention_mask: B x S or None, token_type_ids: B x S or None) -> B x S x H
///     pool(hidden: B x S x H) -> B x H
///     mean(hidden: B x S x H, attention_mask: B x S) -> B x H, over each text's own tokens
///     forward(the arguments of encode) -> (hidden, pooled)
///     pretraining(the arguments of encode) -> (prediction_logits: B x S x V, seq_relationship_logits: B x 2)
/// Without heads, pretraining() is missing. A model without next sentences has no pool(); its forward() returns hidden, its
/// pretraining() prediction_logits.
struct TorchscriptModule {
    std::string name;    ///< its parameters' names are relative to it
    std::string source;  ///< definitions of methods
};

}  // namespace bertpretrain
