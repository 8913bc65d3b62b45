#include "parallel/nccl_environment.h"

#include <cstdlib>

#include "core/environment.h"

namespace bertpretrain {
namespace {

std::vector<NcclVariable>& in_effect() {
    static std::vector<NcclVariable> variables;
    return variables;
}

std::vector<NcclVariable> wanted(std::string_view nccl_version) {
    std::vector<NcclVariable> variables{
        {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "2",
         "aborts a hung communicator, which ends its kernels, but not the process, which ends with its own exit code"},
        {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1", "writes the recent operations when one takes too long"},
        // After a timeout the watchdog sleeps for four times as long, so that all ranks can write their dumps, before it aborts.
        // The default of 15 s would keep the GPU, and with it this process, waiting for a minute.
        {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "1000", "a lost rank is left after seconds instead of a minute"},
    };
    if (nccl_version.starts_with("2.27.") || nccl_version.starts_with("2.28."))
        variables.push_back(
            {"NCCL_NVLS_ENABLE", "0", "NCCL 2.27 and 2.28 can hang where the memory for NVLS is not available on all ranks"});
    return variables;
}

}  // namespace

void set_nccl_environment(std::string_view nccl_version) {
    if (!in_effect().empty()) return;
    for (NcclVariable& variable : wanted(nccl_version)) {
        if (is_set_in_environment(variable.name)) {
            variable.value = environment_variable(variable.name).value_or("");
            variable.reason.clear();
        } else if (::setenv(variable.name.c_str(), variable.value.c_str(), 0) != 0) {
            continue;  // no memory for it: the default stays
        }
        in_effect().push_back(std::move(variable));
    }
}

const std::vector<NcclVariable>& nccl_environment() { return in_effect(); }

}  // namespace bertpretrain
