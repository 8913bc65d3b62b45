// Conditions under which tests that need a GPU run, are skipped, or fail.
#include "gpu/gpu.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("tests that need a GPU are skipped only if the driver shows none") {
    CHECK(judge({}).what == GpuVerdict::skip);
    CHECK(judge({.visible = true, .torch = true, .device = true, .kernels = true}).what == GpuVerdict::run);
}

TEST_CASE("a GPU that the program cannot use fails its tests, and the failure names what is missing") {
    const auto reason = [](const GpuFound& found) {
        const GpuVerdict verdict = judge(found);
        return verdict.what == GpuVerdict::fail ? verdict.reason : "no failure";
    };
    CHECK_THAT(reason({.visible = true}), Catch::Contains("libtorch_cuda.so"));
    CHECK_THAT(reason({.visible = true, .torch = true}), Catch::Contains("driver"));
    CHECK_THAT(reason({.visible = true, .torch = true, .device = true}), Catch::Contains(cuda_module_file));
}

TEST_CASE("a GPU is found by its device file, unless CUDA_VISIBLE_DEVICES hides it") {
    const TemporaryFolder devices;
    CHECK_FALSE(has_gpu_file(devices.path()));
    for (const char* other : {"nvidiactl", "nvidia-uvm", "nvidia"}) write_text(devices / other, "");
    CHECK_FALSE(has_gpu_file(devices.path()));  // the driver alone
    write_text(devices / "nvidia12", "");
    CHECK(has_gpu_file(devices.path()));
    CHECK(may_see_gpus(nullptr));
    CHECK(may_see_gpus("0,1"));
    CHECK_FALSE(may_see_gpus(""));
    CHECK_FALSE(may_see_gpus("-1"));
}
