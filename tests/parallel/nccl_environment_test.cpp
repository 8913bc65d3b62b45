#include "parallel/nccl_environment.h"

#include <cstdlib>

#include "core/environment.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("variables of NCCL that the user has not set are set once, and those that can hang are off in the versions that do") {
    ::setenv("TORCH_NCCL_DUMP_ON_TIMEOUT", "0", 1);
    set_nccl_environment("2.28.9 (of libtorch)");
    set_nccl_environment("2.30.1");  // too late
    const auto variable = [](const std::string& name) {
        for (const NcclVariable& one : nccl_environment())
            if (one.name == name) return one;
        return NcclVariable{};
    };
    CHECK(variable("TORCH_NCCL_DUMP_ON_TIMEOUT").value == "0");
    CHECK(variable("TORCH_NCCL_DUMP_ON_TIMEOUT").reason.empty());
    CHECK(variable("NCCL_NVLS_ENABLE").value == "0");
    CHECK_FALSE(variable("NCCL_NVLS_ENABLE").reason.empty());
    for (const NcclVariable& one : nccl_environment()) CHECK(environment_variable(one.name) == one.value);
}
