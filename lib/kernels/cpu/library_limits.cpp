#include "kernels/cpu/library_limits.h"

#include <cstdlib>

#include <ATen/Parallel.h>

#include "core/environment.h"
#include "core/threads/physical_cores.h"
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

void limit_threads() {
    if (is_set_in_environment("OMP_NUM_THREADS") || is_set_in_environment("MKL_NUM_THREADS")) return;
    const int cores = static_cast<int>(available_physical_cores());
    if (at::get_num_threads() > cores) at::set_num_threads(cores);
}

}  // namespace bertpretrain::cpu
