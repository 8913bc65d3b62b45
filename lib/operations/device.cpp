#include "operations/device.h"

#include <filesystem>
#include <mutex>

#include <dlfcn.h>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core/error.h"
#include "operations/expandable_segments.h"

namespace bertpretrain {
namespace {

/// Before anything else is allocated on the GPU, which is the current one.
void choose_allocator(at::Device device) {
    constexpr std::int64_t few_bytes = std::int64_t{32} << 20;  // of the pool for large blocks
    try_first_allocation([&] { at::empty({few_bytes}, at::TensorOptions(device).dtype(at::kByte)); });
    c10::getDeviceAllocator(device.type())->emptyCache();
}

}  // namespace

bool has_gpu_driver() { return std::filesystem::exists("/dev/nvidiactl"); }

std::int64_t usable_gpus() {
    if (!has_gpu_driver() || ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr || !at::hasCUDA()) return 0;
    return static_cast<std::int64_t>(at::detail::getCUDAHooks().deviceCount());
}

at::Device open_device(bool on_gpu, std::int64_t local_rank) {
    if (!on_gpu) return at::kCPU;
    const std::int64_t gpus = usable_gpus();
    if (local_rank >= gpus)
        throw ConfigError(concat("local rank ", local_rank, " has no GPU of its own: this host has ", gpus,
                                 "\n  do: start one rank per GPU, or set training.device to \"cpu\""));
    const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(local_rank));
    c10::impl::VirtualGuardImpl(at::kCUDA).setDevice(device);
    static std::once_flag once;
    std::call_once(once, [&] { choose_allocator(device); });
    at::globalContext().setAllowBF16ReductionCuBLAS(false);  // matmuls accumulate in fp32, also where cuBLAS splits them
    return device;
}

}  // namespace bertpretrain
