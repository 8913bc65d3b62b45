#pragma once
// The instruction set of the CPU kernels: the fastest that the CPU supports, or the one that BERTPRETRAIN_CPU_CAPABILITY names.

#include <string>
#include <string_view>

/// Marks the functions of a body. They are forced inline, or an instance would call the code compiled for the baseline.
#define BERTPRETRAIN_INLINE static inline __attribute__((always_inline))
/// The same for member functions and lambdas.
#define BERTPRETRAIN_INLINE_MEMBER __attribute__((always_inline))

namespace bertpretrain::cpu {

/// Each set includes the ones before it, except `reference`, which uses the plain-ATen function for every fused operation and
/// does not limit libtorch's kernels.
enum class InstructionSet {
    reference,
    baseline,     ///< supported by every CPU of the architecture
    avx2,         ///< with fused multiply-add: x86-64-v3
    avx512,       ///< x86-64-v4
    avx512_bf16,  ///< with VDPBF16PS: multiplies pairs of bf16
    amx,          ///< matmuls of bf16 tiles
};

/// Returns the set's name as in BERTPRETRAIN_CPU_CAPABILITY.
std::string_view name_of(InstructionSet set);

/// Returns the largest set that this CPU supports.
InstructionSet largest_instruction_set();

/// Returns the set that is fastest where `largest` is supported: the same, except on Intel's processors without AMX. On
/// the Xeon that was measured (AMX hidden by its virtual machine), VDPBF16PS takes as long as four fused multiply-adds of fp32,
/// which multiply twice as many numbers; on AMD's Zen 4 it takes as long as one.
InstructionSet fastest_instruction_set(InstructionSet largest, bool is_intel);

/// @param wanted a name; empty selects fastest_instruction_set() of this CPU
/// @throws ConfigError if the name is unknown or exceeds `largest`
InstructionSet choose_instruction_set(const std::string& wanted, InstructionSet largest);

/// Returns the set that this process uses. Reads BERTPRETRAIN_CPU_CAPABILITY on the first call only.
/// @throws ConfigError like choose_instruction_set()
InstructionSet instruction_set();

/// Returns the set that libtorch may use: the same, or with `reference` everything that the CPU supports.
inline InstructionSet library_instruction_set() {
    return instruction_set() == InstructionSet::reference ? largest_instruction_set() : instruction_set();
}

/// Instances of `body`, a BERTPRETRAIN_INLINE function, one per instruction set. GCC's target_clones are not used: the loader
/// selects them and cannot be overridden, clang lacks them, and sanitizers start too late for them.
template <auto body>
struct Instances;

template <class Result, class... Arguments, Result (*body)(Arguments...)>
struct Instances<body> {
    static Result baseline(Arguments... arguments) { return body(arguments...); }
#if defined(__x86_64__)
    __attribute__((target("arch=x86-64-v3"))) static Result avx2(Arguments... arguments) { return body(arguments...); }
    __attribute__((target("arch=x86-64-v4"))) static Result avx512(Arguments... arguments) { return body(arguments...); }
#endif
};

/// Calls body(arguments...) in the best instance that instruction_set() allows.
template <auto body>
auto by_instruction_set(const auto&... arguments) {
#if defined(__x86_64__)
    const InstructionSet set = instruction_set();
    if (set >= InstructionSet::avx512) return Instances<body>::avx512(arguments...);
    if (set >= InstructionSet::avx2) return Instances<body>::avx2(arguments...);
#endif
    return Instances<body>::baseline(arguments...);
}

}  // namespace bertpretrain::cpu
