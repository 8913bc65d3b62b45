// Limits libtorch's CPU instructions before any test uses it, as the program does. Ends the program as skipped where the limit
// changes nothing, because then the same tests run without it.
#include <cstdlib>
#include <iostream>

#include "core/error.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/library_limits.h"
#include "support/skip.h"

namespace {

/// Whether the tests use the same instructions with BERTPRETRAIN_CPU_CAPABILITY as without it.
bool changes_nothing() {
    using namespace bertpretrain::cpu;
    return instruction_set() == largest_instruction_set();
}

const bool limited = [] {
    try {
        bertpretrain::cpu::limit_libraries();
        if (const char* const set = std::getenv("BERTPRETRAIN_CPU_CAPABILITY");
            set != nullptr && *set != '\0' && changes_nothing()) {
            const std::string reason =
                std::string("this processor has no more than ") + set + ", so these tests run without a limit";
            std::cerr << reason << std::endl;
            bertpretrain::testing::append_skip(bertpretrain::testing::skip::limited, "all tests", reason);
            std::_Exit(0);
        }
    } catch (const bertpretrain::Error& error) {
        std::cerr << error.what() << std::endl;
        const char* const set = std::getenv("BERTPRETRAIN_CPU_CAPABILITY");
        if (set != nullptr)
            bertpretrain::testing::append_skip(std::string("no ") + set + " instructions", "all tests", error.what());
        std::_Exit(static_cast<int>(error.code()));
    }
    return true;
}();

}  // namespace
