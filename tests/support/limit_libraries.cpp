// Limits libtorch's CPU instructions before any test uses it, as the program does. Ends the program as skipped where the limit
// changes nothing, because then the same tests run without it.
#include <cstdlib>
#include <iostream>
#include <string>

#include "core/error.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cpu/library_limits.h"
#include "support/skip.h"

namespace {

/// Ends this program, all of whose tests are listed as skipped for this reason.
[[noreturn]] void skip_all(const std::string& kind, const std::string& reason, int exit_code) {
    std::cerr << reason << std::endl;
    bertpretrain::testing::append_skip(kind, "all tests", reason);
    std::_Exit(exit_code);
}

const bool limited = [] {
    using namespace bertpretrain;
    const char* const asked = std::getenv("BERTPRETRAIN_CPU_CAPABILITY");
    const std::string set = asked == nullptr ? "" : asked;
    try {
        cpu::limit_libraries();
        if (!set.empty() && cpu::instruction_set() == cpu::choose_instruction_set("", cpu::largest_instruction_set()))
            skip_all(testing::skip::limited, "this processor has no more than " + set + ", or uses it by default", 0);
    } catch (const Error& error) {  // the processor lacks the set
        skip_all("no " + set + " instructions", error.what(), static_cast<int>(error.code()));
    }
    return true;
}();

}  // namespace
