#pragma once
// The faster library for each product of a model on this CPU.

#include <cstdint>
#include <vector>

#include "kernels/product_libraries.h"
#include "model/bert_config.h"

namespace bertpretrain {

/// The products of a model's Linear layers that take its time: all but the pooler's and the next-sentence head's.
std::vector<LinearShape> products_of(const BertConfig& model);

/// Times each product in bf16 by each library, in turns. oneDNN's stays where no other is at least a twentieth faster, so that
/// machines of a kind choose alike. Some seconds for BERT-Large; leaves the process without a choice.
/// @param tokens of a micro-batch
ProductLibraries measure_products(const BertConfig& model, std::int64_t tokens);

}  // namespace bertpretrain
