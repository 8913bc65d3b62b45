// Limits libtorch's CPU instructions before any test uses it, as the program does.
#include <cstdlib>
#include <iostream>

#include "core/error.h"
#include "kernels/cpu/library_limits.h"

namespace {

const bool limited = [] {
    try {
        bertpretrain::cpu::limit_libraries();
    } catch (const bertpretrain::Error& error) {
        std::cerr << error.what() << std::endl;
        std::_Exit(static_cast<int>(error.code()));
    }
    return true;
}();

}  // namespace
