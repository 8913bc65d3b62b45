#pragma once
// Measures which matmul library is faster for each matmul of a model on this CPU.

#include <cstdint>
#include <vector>

#include "kernels/matmul_libraries.h"
#include "model/architecture.h"

namespace bertpretrain {

/// Times each matmul in bf16 with each library, in turns. The default library (amx where available, else oneDNN) stays unless
/// another one is at least 10 % faster. The margin makes equal machines choose alike; and MKL's matmuls may take twice as long in
/// a run, where memory is placed differently, as when measured. Takes some seconds for BERT-Large. Resets the process to no
/// choice.
/// @param tokens per micro-batch
MatmulLibraries measure_matmul_libraries(const ModelConfig& model, std::int64_t tokens);

}  // namespace bertpretrain
