#pragma once
// The processor's peak multiply-add rate, with all operands in registers.

#include <string>
#include <vector>

namespace bertpretrain::benchmark {

struct InstructionRoof {
    std::string name;
    double flops_per_second = 0;  ///< summed over all threads; 0: the processor lacks the instruction
};

/// Returns the rates of multiply-add in registers in fp32 (AVX2, AVX-512), of bf16 pairs (AVX-512), and of bf16 tiles (AMX): each
/// the best of several short runs of `threads` threads at once. The last is the median rate of tiles that are loaded from the L1
/// cache: far below the rate in registers, it shows that other processes compute on the same physical cores.
std::vector<InstructionRoof> instruction_roofs(int threads);

/// Returns how fast the threads of an operation multiply tiles that they load from the L1 cache, for some 50 us: the number of threads
/// times the slowest one's rate, in FLOP/s; 0 without AMX.
double tile_rate_now();

}  // namespace bertpretrain::benchmark
