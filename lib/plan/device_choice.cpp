#include "plan/device_choice.h"

#include "core/error.h"
#include "operations/device.h"

namespace bertpretrain {

bool means_gpu(const std::string& device, std::int64_t gpus) {
    if (device == "cuda" && gpus == 0)
        throw ConfigError("training.device = \"cuda\": no usable GPU was found; set it to \"cpu\" or \"auto\"");
    return device != "cpu" && gpus > 0;
}

at::Device device_named(const std::string& device, std::int64_t local_rank) {
    const std::int64_t gpus =
        device == "cpu" ? 0 : usable_gpus();  // looking for GPUs takes two seconds where a driver is installed
    return open_device(means_gpu(device, gpus), local_rank);
}

}  // namespace bertpretrain
