// For LD_PRELOAD: makes some matmuls of one rank wrong, or all of them slow, to imitate a bad device.
//   FAULT_RANK   the affected rank ($RANK)
//   FAULT_DO     wrong: every seventh matmul has one wrong element; slow: each takes 200 ms longer
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

#include <ATen/ATen.h>
#include <ATen/ops/mm_ops.h>

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

at::Tensor real_product(const at::Tensor& a, const at::Tensor& b) {
    using Function = at::Tensor (*)(const at::Tensor&, const at::Tensor&);
    static const Function function = [] {
        void* const found = ::dlsym(RTLD_NEXT, "_ZN2at4_ops2mm4callERKNS_6TensorES4_");
        Function real = nullptr;
        std::memcpy(&real, &found, sizeof real);
        return real;
    }();
    return function(a, b);
}

}  // namespace

at::Tensor at::_ops::mm::call(const at::Tensor& self, const at::Tensor& mat2) {
    static ::std::atomic<int> products{0};
    at::Tensor product = real_product(self, mat2);
    if (variable("FAULT_RANK") != variable("RANK")) return product;
    if (variable("FAULT_DO") == "slow") ::usleep(200'000);
    else if (++products % 7 == 0) product.view(-1)[12345].add_(1);
    return product;
}
