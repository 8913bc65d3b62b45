// Checks of the NCCL module that need no GPU.
#include "parallel/nccl_module.h"

#include <dlfcn.h>

#include <filesystem>

#include "parallel/make_world.h"
#include "support/catch.h"
#include "support/skip.h"

using namespace bertpretrain;

TEST_CASE("the NCCL module resolves all symbols that it needs from the program and from libtorch") {
    if (!std::filesystem::exists(std::filesystem::path(PROGRAM_FOLDER) / nccl_module_file))
        SKIP_TEST(testing::skip::not_built, "the NCCL module: libtorch has no CUDA half, or NCCL's headers are missing");
    static auto* volatile linked = &make_world;  // brings into this test what the program has
    REQUIRE(linked != nullptr);
    // RTLD_NOW: a missing symbol fails here and not on the first machine with two GPUs.
    void* const module = ::dlopen(nccl_module_file, RTLD_NOW | RTLD_LOCAL);
    INFO((module == nullptr ? ::dlerror() : "loaded"));
    REQUIRE(module != nullptr);
    CHECK(::dlsym(module, nccl_module_symbol) != nullptr);
}
