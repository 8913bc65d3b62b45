#pragma once
// The faster library for each product of a model on this CPU.

#include <cstdint>
#include <vector>

#include "kernels/matmul_libraries.h"
#include "model/bert_config.h"

namespace bertpretrain {

/// The products of a model's Linear layers that take its time: all but the pooler's and the next-sentence head's.
std::vector<LinearShape> matmuls_of(const BertConfig& model);

/// Times each product in bf16 by each library, in turns. Tiles stay where there are any, and oneDNN elsewhere, unless another is
/// at least a tenth faster: machines of a kind shall choose alike, and MKL's products may take twice as long in a run, where
/// memory lies elsewhere, as when they are measured. Some seconds for BERT-Large; leaves the process without a choice.
/// @param tokens of a micro-batch
MatmulLibraries measure_matmul_libraries(const BertConfig& model, std::int64_t tokens);

}  // namespace bertpretrain
