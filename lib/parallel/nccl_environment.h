#pragma once
// The environment variables of NCCL and c10d whose defaults do not suit a training run.

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

struct NcclVariable {
    std::string name, value;
    std::string reason;  ///< why the program set it; empty: the user did
};

/// Sets the variables that the user has not set. Call it before this process has other threads, because another thread may read
/// the environment at the same time.
/// @param nccl_version as libtorch's headers have it, such as "2.28.9"
void set_nccl_environment(std::string_view nccl_version);

/// Returns the variables with their values in effect; empty before set_nccl_environment().
const std::vector<NcclVariable>& nccl_environment();

}  // namespace bertpretrain
