// Tests of the CUDA module that do not need a GPU.
#include <dlfcn.h>

#include <filesystem>

#include "gpu/gpu.h"
#include "kernels/kernels_in_use.h"
#include "support/folders.h"

using namespace bertpretrain;

namespace {

bool was_built() { return std::filesystem::exists(std::filesystem::path(testing::program_folder()) / cuda_module_file); }

const char* const why_not_built = "the CUDA module: there is no nvcc, or libtorch has no CUDA half";

}  // namespace

TEST_CASE("the CUDA module finds all symbols that it needs in the program and in libtorch") {
    if (!was_built()) SKIP_TEST(testing::skip::not_built, why_not_built);
    REQUIRE(functions_for(at::kCPU).attention != nullptr);  // brings into this test what the program has
    // Nothing is bound later, so that what is missing shows here and not on the first machine with a GPU.
    void* const module = ::dlopen(cuda_module_file, RTLD_NOW | RTLD_LOCAL);
    INFO((module == nullptr ? ::dlerror() : "loaded"));
    REQUIRE(module != nullptr);
    CHECK(::dlsym(module, cuda_module_symbol) != nullptr);
}

TEST_CASE("the CUDA module offers its kernels if and only if a GPU can run them") {
    if (!was_built()) SKIP_TEST(testing::skip::not_built, why_not_built);
    CHECK((cuda_module() != nullptr) == testing::find_usable_gpu().has_value());
    if (cuda_module() == nullptr) CHECK(functions_for(at::kCUDA).dropout_rows == &reference::dropout_rows);
    else CHECK(functions_for(at::kCUDA).dropout_rows == cuda_module()->functions.dropout_rows);
}
