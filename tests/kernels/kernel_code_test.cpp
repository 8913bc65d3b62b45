// The instructions to which the compiler translated our kernels.
//
// A kernel whose sums the compiler keeps in memory gives the right result at half of the speed, which no other test notices.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "core/error.h"
#include "kernels/cpu/panel_kernel.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

#if defined(__x86_64__) && defined(NDEBUG)  // a debug build keeps everything in memory

namespace {

/// Returns the instructions of the function of this program that begins at `function`, by binutils' objdump.
std::vector<std::string> instructions_of(const void* function) {
    Dl_info program{};
    REQUIRE(::dladdr(function, &program) != 0);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(function) - reinterpret_cast<std::uintptr_t>(program.dli_fbase);
    const CommandResult result =
        run_command(concat("objdump -d --no-show-raw-insn --start-address=", begin, " --stop-address=", begin + 8192, " '",
                           std::filesystem::read_symlink("/proc/self/exe").string(), "'"));
    REQUIRE(result.exit_code == 0);
    std::istringstream lines(result.out);
    std::vector<std::string> instructions;
    int functions = 0;
    for (std::string line; functions < 2 && std::getline(lines, line);) {
        if (line.ends_with(">:")) ++functions;
        else if (functions == 1) instructions.push_back(line);
    }
    return instructions;
}

const std::regex multiplies("vfmadd|vdpbf16ps"), stores_on_stack("vmov\\w+ +%[xyz]mm\\d+,.*\\(%r[sb]p");

}  // namespace

TEST_CASE("the kernels of matmuls store no sums between their multiplications") {
    const auto* const kernel = GENERATE(&cpu::avx2_panels, &cpu::avx512_panels, &cpu::avx512_bf16_panels);
    for (const void* const function :
         {reinterpret_cast<const void*>(kernel->multiply), reinterpret_cast<const void*>(kernel->multiply_rows)}) {
        if (function == nullptr) continue;
        const std::vector<std::string> code = instructions_of(function);
        const auto is = [](const std::regex& what) {
            return [&what](const std::string& line) { return std::regex_search(line, what); };
        };
        const auto first = std::find_if(code.begin(), code.end(), is(multiplies));
        const auto last = std::find_if(code.rbegin(), code.rend(), is(multiplies)).base();
        REQUIRE(std::count_if(first, last, is(multiplies)) >= kernel->tile_elements() / 16);
        CHECK(std::count_if(first, last, is(stores_on_stack)) == 0);
    }
}

#endif
