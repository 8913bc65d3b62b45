// A run keeps its matmul library.

#include <cstdlib>

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

namespace {

/// Eight steps in bf16, the first four of them with `first` as training.cpu_matmul, the others with `then`.
std::vector<std::string> eight_steps(const TemporaryFolder& folder, const std::string& first, const std::string& then) {
    const auto config = write_experiment(folder, {{"training", {{"precision", "bf16"}}},
                                                  {"schedule", {{"name", "constant"}, {"total_steps", 8}, {"warmup_ratio", 0}}},
                                                  {"checkpoint", {{"save_every_steps", 4}}},
                                                  {"evaluation", {{"every_steps", 0}}}});
    const auto run = folder / (first + "_" + then);
    REQUIRE(train(config, run, "--set training.cpu_matmul=" + first).exit_code == 0);
    if (then == first) return numbers_of(run);
    std::filesystem::remove_all(run / "checkpoints/step_00000008");
    REQUIRE(train(config, run, "--set training.cpu_matmul=" + then).exit_code == 0);
    return numbers_of(run);
}

}  // namespace

TEST_CASE("a resumed run uses the matmul library that it began with, bit for bit") {
    NEEDS_TRAIN();
    // Intel's processors without AMX widen bf16 by default, and then there is no library to choose.
    const std::string processor = read_text("/proc/cpuinfo");
    const auto has = [&](const char* flag) { return processor.find(flag) != std::string::npos; };
    if (has(" avx512_bf16") && !has(" amx_tile")) ::setenv("BERTPRETRAIN_CPU_CAPABILITY", "avx512_bf16", 0);
    const TemporaryFolder folder;
    const auto mkl = eight_steps(folder, "mkl", "mkl");
    if (read_text(folder / "mkl_mkl/log.txt").find("matmul library    mkl") == std::string::npos)
        SKIP_TEST(skip::no_bf16, "no MKL, or no bf16 matmuls on this processor");
    const auto onednn = eight_steps(folder, "onednn", "onednn");
    REQUIRE(mkl != onednn);
    CHECK(first_difference(eight_steps(folder, "mkl", "measured"), mkl) == "");
    CHECK(first_difference(eight_steps(folder, "onednn", "measured"), onednn) == "");
    const auto vector = eight_steps(folder, "vector", "vector");
    CHECK(vector != onednn);
    CHECK(first_difference(eight_steps(folder, "vector", "measured"), vector) == "");
    CHECK(first_difference(eight_steps(folder, "mkl", "onednn"), mkl) != "");
}
