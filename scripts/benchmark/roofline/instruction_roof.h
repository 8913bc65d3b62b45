#pragma once
// How fast the processor can multiply when nothing has to be fetched.

#include <string>
#include <vector>

namespace bertpretrain::benchmark {

struct InstructionRoof {
    std::string name;
    double flops_per_second = 0;  ///< of all threads together; 0: the processor has no such instruction
};

/// Register-fed multiply-add in fp32 (AVX2, AVX-512), of bf16 pairs (AVX-512), and of bf16 tiles (AMX), the best of several
/// short runs of `threads` threads at once.
std::vector<InstructionRoof> instruction_roofs(int threads);

}  // namespace bertpretrain::benchmark
