#include "kernels/cpu/panel_kernel.h"

namespace bertpretrain::cpu {

const PanelKernel* panel_kernel(InstructionSet set) {
    switch (set) {
#if defined(__x86_64__)
        case InstructionSet::avx2:
            return &avx2_panels;
        case InstructionSet::avx512:
            return &avx512_panels;
        case InstructionSet::avx512_bf16:
        case InstructionSet::amx:
            return &avx512_bf16_panels;
#endif
        default:
            return nullptr;
    }
}

}  // namespace bertpretrain::cpu
