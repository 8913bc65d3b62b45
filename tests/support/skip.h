#pragma once
// SKIP_TEST ends a test that this machine cannot run. It is the only way to skip a test. Skips are counted. What
// scripts/setup.sh and scripts/build.sh provide may never be missing: such a skip fails its test. scripts/list_skips.sh fails
// on the others where they are not expected on the machine.

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "support/catch.h"

namespace bertpretrain::testing {

/// What a machine lacks, or has. scripts/list_skips.sh decides for each kind whether it is expected.
namespace skip {
inline constexpr const char* no_shared_data = "no shared data";
inline constexpr const char* no_gpu = "no GPU";
inline constexpr const char* no_fp8 = "no fp8 instructions";  ///< of the GPU
inline constexpr const char* gpu = "a GPU";                   ///< the test is about machines without one
inline constexpr const char* no_avx2 = "no avx2 instructions";
inline constexpr const char* no_amx = "no amx instructions";
inline constexpr const char* no_bf16 = "no avx512_bf16 instructions";
inline constexpr const char* limited = "limited instructions";  ///< the same test also runs without the limit
inline constexpr const char* sanitizer = "a sanitizer";         ///< the same test also runs without it
inline constexpr const char* no_mkl = "no MKL";
inline constexpr const char* no_mounts = "no mount namespaces";
inline constexpr const char* no_hosts = "no network namespaces";
inline constexpr const char* no_arrow = "no Arrow";  ///< needs Python 3.11
inline constexpr const char* no_browser = "no browser";
inline constexpr const char* no_clean_system = "no root or debootstrap";
inline constexpr const char* no_oracle = "no oracle";  ///< scripts/setup.sh --oracles installs it: never expected
inline constexpr const char* not_built = "not built";  ///< scripts/build.sh builds it: never expected
}  // namespace skip

/// Appends "KIND<tab>PROGRAM<tab>TEST<tab>REASON" to the file that the environment variable BERTPRETRAIN_SKIPS names, if it is
/// set.
inline void append_skip(const std::string& kind, const std::string& test, const std::string& reason) {
    const char* const file = std::getenv("BERTPRETRAIN_SKIPS");
    if (file == nullptr || *file == '\0') return;
    const char* const limit = std::getenv("BERTPRETRAIN_CPU_CAPABILITY");
    std::string program = program_invocation_short_name;
    if (limit != nullptr && *limit != '\0') program += std::string(" limited to ") + limit;
    std::string line = kind + '\t' + program + '\t' + test + '\t' + reason;
    std::replace(line.begin(), line.end(), '\n', ' ');
    line += '\n';
    // One write per line, so that programs which run at the same time do not mix their lines.
    const int descriptor = ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const bool written = descriptor >= 0 && ::write(descriptor, line.data(), line.size()) == static_cast<::ssize_t>(line.size());
    if (descriptor >= 0) ::close(descriptor);
    if (!written) {
        std::cerr << "cannot append to " << file << ", which BERTPRETRAIN_SKIPS names\n";
        std::_Exit(1);
    }
}

/// Reports the running test as skipped, or fails it where its kind is never expected. SKIP_TEST calls it. A missing instruction
/// set counts as limited where BERTPRETRAIN_CPU_CAPABILITY limits this program.
inline void record_skip(std::string kind, const std::string& reason) {
    const std::string test = Catch::getResultCapture().getCurrentTestName();
    const char* const limit = std::getenv("BERTPRETRAIN_CPU_CAPABILITY");
    if (limit != nullptr && *limit != '\0' && kind.ends_with(" instructions")) kind = skip::limited;
    append_skip(kind, test, reason);
    if (kind == skip::no_oracle || kind == skip::not_built) FAIL("cannot run here: " << kind << ": " << reason);
    // Catch2 2 has no result of its own for a skip. Its reporters show this one under the test's name.
    INTERNAL_CATCH_MSG("SKIP_TEST", Catch::ResultWas::Warning, Catch::ResultDisposition::ContinueOnFailure,
                       "skipped: " << kind << ": " << reason);
}

}  // namespace bertpretrain::testing

/// Ends the test case, or the function that holds all of it, as skipped. `kind` is one of the constants of namespace skip.
#define SKIP_TEST(kind, reason)                               \
    do {                                                      \
        bertpretrain::testing::record_skip((kind), (reason)); \
        return;                                               \
    } while (false)
