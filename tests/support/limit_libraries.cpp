// Limits libtorch's CPU instructions before any test uses it, as the program does.
#include <cstdlib>
#include <iostream>

#include "core/error.h"
#include "kernels/cpu/library_limits.h"
#include "support/skip.h"

namespace {

const bool limited = [] {
    try {
        bertpretrain::cpu::limit_libraries();
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
