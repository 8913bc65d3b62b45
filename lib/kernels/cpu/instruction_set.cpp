#include "kernels/cpu/instruction_set.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/error.h"

namespace bertpretrain::cpu {
namespace {

constexpr std::array<std::string_view, 6> names{"reference", "baseline", "avx2", "avx512", "avx512_bf16", "amx"};

#if defined(__x86_64__)
/// Asks the Linux kernel, because it must permit the large AMX registers.
bool has_amx() {
    constexpr int get_supported_features = 0x1021, tile_data = 18;  // arch/x86/include/uapi/asm/prctl.h
    unsigned long features = 0;
    return ::syscall(SYS_arch_prctl, get_supported_features, &features) == 0 && (features >> tile_data & 1) != 0;
}
#endif

bool is_intel() {
#if defined(__x86_64__)
    return __builtin_cpu_is("intel") != 0;
#else
    return false;
#endif
}

std::string list_of_names() {
    std::string list;
    for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
    return list;
}

}  // namespace

std::string_view name_of(InstructionSet set) { return names[static_cast<std::size_t>(set)]; }

InstructionSet largest_instruction_set() {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        return InstructionSet::baseline;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return InstructionSet::avx2;
    if (!__builtin_cpu_supports("avx512bf16")) return InstructionSet::avx512;
    return has_amx() ? InstructionSet::amx : InstructionSet::avx512_bf16;
#else
    return InstructionSet::baseline;
#endif
}

InstructionSet fastest_instruction_set(InstructionSet largest, bool is_intel) {
    return is_intel && largest == InstructionSet::avx512_bf16 ? InstructionSet::avx512 : largest;
}

InstructionSet choose_instruction_set(const std::string& wanted, InstructionSet largest) {
    if (wanted.empty()) return fastest_instruction_set(largest, is_intel());
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end())
        throw ConfigError(concat("BERTPRETRAIN_CPU_CAPABILITY = ", wanted, ": must be one of ", list_of_names()));
    const auto chosen = static_cast<InstructionSet>(found - names.begin());
    if (chosen > largest)
        throw ConfigError(
            concat("BERTPRETRAIN_CPU_CAPABILITY = ", wanted, ": this processor has no more than ", name_of(largest)));
    return chosen;
}

InstructionSet instruction_set() {
    static const InstructionSet chosen =
        choose_instruction_set(environment_variable("BERTPRETRAIN_CPU_CAPABILITY").value_or(""), largest_instruction_set());
    return chosen;
}

}  // namespace bertpretrain::cpu
