#pragma once
// Compiles a function body once per instruction set and selects one at run time. GCC's target_clones are not used: the loader
// selects them and cannot be overridden, clang lacks them, and sanitizers start too late for them.

#include "kernels/cpu/instruction_set.h"

/// Marks the functions of a body. They are forced inline, or an instance would call the code compiled for the baseline.
#define BERTPRETRAIN_INLINE static inline __attribute__((always_inline))
/// The same for member functions and lambdas.
#define BERTPRETRAIN_INLINE_MEMBER __attribute__((always_inline))

namespace bertpretrain::cpu {

/// Instances of `body`, a BERTPRETRAIN_INLINE function, one per instruction set.
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
