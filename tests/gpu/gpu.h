#pragma once
// Tests that need a GPU are skipped where there is none, and fail where the program cannot use the one that is there.

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "kernels/fused_operations.h"
#include "kernels/kernel_inputs.h"
#include "kernels/kernels_in_use.h"
#include "plan/device_choice.h"
#include "support/command.h"
#include "support/skip.h"
#include "train/make_trainer.h"

namespace bertpretrain::testing {

/// Properties of this machine.
struct GpuFound {
    bool visible = false;  ///< the driver shows a GPU to this process
    bool torch = false;    ///< libtorch_cuda.so can be loaded
    bool device = false;   ///< the program chooses the GPU for training.device = "auto"
    bool kernels = false;  ///< the CUDA module is found and has kernels for this GPU
};

/// What a test that needs a GPU does on this machine.
struct GpuVerdict {
    enum { run, skip, fail } what;
    std::string reason;  ///< empty: run
};

/// A GPU that the program cannot use fails the tests instead of skipping them.
inline GpuVerdict judge(const GpuFound& found) {
    if (!found.visible) return {GpuVerdict::skip, "the driver shows no GPU"};
    const auto failed = [](const std::string& what) { return GpuVerdict{GpuVerdict::fail, "there is a GPU, but " + what}; };
    if (!found.torch) return failed("libtorch_cuda.so cannot be loaded: this libtorch is for CPUs");
    if (!found.device) return failed("torch finds no device: compare the driver's version with CUDA's");
    if (!found.kernels) return failed(concat(cuda_module_file, " cannot be used; the log says why"));
    return {GpuVerdict::run, ""};
}

/// Whether CUDA_VISIBLE_DEVICES (null if not set) lets this process see any GPU.
inline bool may_see_gpus(const char* visible_devices) {
    return visible_devices == nullptr || (*visible_devices != '\0' && std::string(visible_devices) != "-1");
}

/// Whether a folder of device files, such as /dev, contains an NVIDIA GPU: nvidia0, not only nvidiactl.
inline bool has_gpu_file(const std::filesystem::path& devices) {
    for (const auto& entry : std::filesystem::directory_iterator(devices)) {
        const std::string name = entry.path().filename().string(), prefix = "nvidia";
        const std::string number = name.rfind(prefix, 0) == 0 ? name.substr(prefix.size()) : "";
        if (!number.empty() && number.find_first_not_of("0123456789") == number.npos) return true;
    }
    return false;
}

inline GpuFound find_gpu() {
    GpuFound found;
    // Guests without such device files, such as WSL, may still have nvidia-smi.
    found.visible = may_see_gpus(std::getenv("CUDA_VISIBLE_DEVICES")) &&
                    (has_gpu_file("/dev") || run_command("nvidia-smi -L | grep -q '^GPU '").exit_code == 0);
    if (!found.visible) return found;
    found.torch = ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr;
    found.device = found.torch && device_named("auto", 0).is_cuda();
    found.kernels = found.device && cuda_module() != nullptr;
    return found;
}

/// The GPU, or nothing where the driver shows none. Fails the test where there is a GPU that the program cannot use.
inline std::optional<at::Device> find_usable_gpu() {
    static const GpuVerdict verdict = judge(find_gpu());
    if (verdict.what == GpuVerdict::fail) FAIL(verdict.reason);
    if (verdict.what == GpuVerdict::skip) return std::nullopt;
    return at::Device(at::kCUDA, 0);
}

}  // namespace bertpretrain::testing

/// Skips the test where there is no GPU.
#define NEEDS_GPU() \
    if (!bertpretrain::testing::find_usable_gpu()) SKIP_TEST(bertpretrain::testing::skip::no_gpu, "the driver shows none")
