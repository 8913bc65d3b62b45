#pragma once
// Which instructions the kernels on the CPU use: all that the processor has, or fewer where BERTPRETRAIN_CPU_CAPABILITY says so.

#include <string_view>

namespace bertpretrain::cpu {

/// Each set includes those before it, but for `reference`: there every fused operation is the plain-ATen one, and libtorch's
/// kernels use what they like.
enum class InstructionSet {
    reference,
    baseline,     ///< what every processor of the architecture has
    avx2,         ///< with fused multiply-add: x86-64-v3
    avx512,       ///< x86-64-v4
    avx512_bf16,  ///< products of pairs of bf16
    amx,          ///< products of tiles of bf16
};

/// As BERTPRETRAIN_CPU_CAPABILITY calls it.
std::string_view name_of(InstructionSet set);

/// The largest set that this processor has.
InstructionSet largest_instruction_set();

/// @param wanted a name, or null or empty: then `largest`
/// @throws ConfigError where there is no set of this name, or it is more than `largest`
InstructionSet choose_instruction_set(const std::string& wanted, InstructionSet largest);

/// What this process uses, by BERTPRETRAIN_CPU_CAPABILITY as it was at the first call.
/// @throws ConfigError as choose_instruction_set
InstructionSet instruction_set();

/// What libtorch may use beside it: the same, and beside `reference` everything.
inline InstructionSet library_instruction_set() {
    return instruction_set() == InstructionSet::reference ? largest_instruction_set() : instruction_set();
}

}  // namespace bertpretrain::cpu
