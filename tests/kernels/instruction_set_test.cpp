#include "kernels/cpu/instruction_set.h"

#include <string>

#include <ATen/ATen.h>
#include <ATen/Version.h>

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::cpu;

namespace {

/// x * x - y. The square is not rounded if the body is compiled with fused multiply-add.
BERTPRETRAIN_INLINE float square_minus(const float* x, float y) { return *x * *x - y; }

}  // namespace

TEST_CASE(
    "instructions for pairs of bf16 are the default where they are faster than those of fp32, which is not so on Intel's without "
    "AMX") {
    using enum InstructionSet;
    for (const bool is_intel : {false, true})
        for (const InstructionSet largest : {baseline, avx2, avx512, amx})
            CHECK(fastest_instruction_set(largest, is_intel) == largest);
    CHECK(fastest_instruction_set(avx512_bf16, false) == avx512_bf16);
    CHECK(fastest_instruction_set(avx512_bf16, true) == avx512);
    CHECK(choose_instruction_set("avx512_bf16", avx512_bf16) == avx512_bf16);
}

TEST_CASE("without a wish, the kernels use all that the processor has") {
    CHECK(choose_instruction_set("", InstructionSet::avx512) == InstructionSet::avx512);
    CHECK(choose_instruction_set("", InstructionSet::baseline) == InstructionSet::baseline);
}

TEST_CASE("any set that the processor has can be asked for by its name, and the reference everywhere") {
    using enum InstructionSet;
    for (const InstructionSet set : {reference, baseline, avx2, avx512, avx512_bf16, amx})
        CHECK(choose_instruction_set(std::string(name_of(set)), amx) == set);
    CHECK(choose_instruction_set("reference", baseline) == reference);
}

TEST_CASE("a set that is unknown, or that the processor lacks, is refused with a list of the valid ones") {
    CHECK_THROWS_WITH(choose_instruction_set("avx9", InstructionSet::amx),
                      Catch::Contains("avx9") && Catch::Contains("reference, baseline, avx2, avx512, avx512_bf16, amx"));
    CHECK_THROWS_AS(choose_instruction_set("avx9", InstructionSet::amx), ConfigError);
    CHECK_THROWS_WITH(choose_instruction_set("avx512", InstructionSet::avx2), Catch::Contains("no more than avx2"));
    CHECK_THROWS_AS(choose_instruction_set("avx512", InstructionSet::avx2), ConfigError);
}

TEST_CASE("the instance that runs is compiled for the chosen set") {
#if defined(__x86_64__)
    const float x = 1 + 0x1p-12F;  // its square is 1 + 2^-11 + 2^-24, of which a float holds all but the last term
    const bool fused = by_instruction_set<&square_minus>(&x, 1 + 0x1p-11F) == 0x1p-24F;
    CHECK(fused == (instruction_set() >= InstructionSet::avx2));
#endif
}

TEST_CASE("libtorch's kernels use the same instruction set") {
    const std::string capability = at::get_cpu_capability();
    CAPTURE(name_of(instruction_set()), capability);
    CHECK((capability == "AVX512") == (library_instruction_set() >= InstructionSet::avx512));
    CHECK((capability == "DEFAULT") == (library_instruction_set() == InstructionSet::baseline));
}
