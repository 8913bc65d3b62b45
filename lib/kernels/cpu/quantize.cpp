// fp8 on CPUs, which have no instructions for it: for runs that show what fp8 costs in quality.
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {

Fp8Operand quantize(const OperandSource& source, const Quantizer& by) {
    return reference::quantize({value_of(source, functions())}, by);
}

}  // namespace bertpretrain::cpu
