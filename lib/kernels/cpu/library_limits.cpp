#include "kernels/cpu/library_limits.h"

#include <cstdlib>

#include "kernels/cpu/instruction_set.h"

namespace bertpretrain::cpu {
namespace {

/// The libraries' names for an instruction set.
struct Names {
    const char *aten, *onednn, *mkl;
};

Names names_of(InstructionSet set) {
    switch (set) {
        case InstructionSet::baseline:
            return {"default", "SSE41", "SSE4_2"};
        case InstructionSet::avx2:
            return {"avx2", "AVX2", "AVX2"};
        case InstructionSet::avx512:
            return {"avx512", "AVX512_CORE_VNNI", "AVX512"};
        default:
            return {"avx512", "AVX512_CORE_BF16", "AVX512"};
    }
}

}  // namespace

void limit_libraries() {
    if (library_instruction_set() == largest_instruction_set()) return;
    const Names names = names_of(library_instruction_set());
    ::setenv("ATEN_CPU_CAPABILITY", names.aten, 1);
    ::setenv("ONEDNN_MAX_CPU_ISA", names.onednn, 1);
    ::setenv("MKL_ENABLE_INSTRUCTIONS", names.mkl, 1);
}

}  // namespace bertpretrain::cpu
