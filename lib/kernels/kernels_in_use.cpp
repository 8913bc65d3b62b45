#include "kernels/kernels_in_use.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

#include <dlfcn.h>

#include "core/concat.h"
#include "core/output/log.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/interface/implementations.h"
#include "kernels/plain_matmul.h"

namespace bertpretrain {
namespace {

/// The kernels in use on one type of device. Sets are kept until the process ends, because another thread may still hold them.
struct InUse {
    std::atomic<const KernelSet*> chosen{nullptr};
    std::mutex mutex;
    std::deque<KernelSet> kept;
    std::vector<KernelSet> offered;
};

InUse& in_use(at::DeviceType type) {
    static InUse on_cpu, on_gpu;
    return type == at::kCPU ? on_cpu : on_gpu;
}

const CudaModule* open_module() {
    void* const module = ::dlopen(cuda_module_file, RTLD_NOW | RTLD_LOCAL);  // found by the program's own search path
    void* const symbol = module == nullptr ? nullptr : ::dlsym(module, cuda_module_symbol);
    const CudaModule* const found = symbol == nullptr ? nullptr : reinterpret_cast<GetCudaModule*>(symbol)();
    if (found == nullptr) {
        const char* const reason = symbol == nullptr ? ::dlerror() : "they need a GPU of compute capability 8.0 or above";
        log_warning(concat("without our CUDA kernels, the GPU uses plain ATen operations, which is slower: ", reason));
    }
    return found;
}

KernelSet set_of_cpu() {
    const bool plain = cpu::instruction_set() == cpu::InstructionSet::reference;
    KernelSet set = plain ? reference_kernels() : KernelSet{"cpu", cpu::functions(), &cpu_optimizer_kernels(), {}};
    set.matmul = {};  // selected by matmul_libraries.h
    return set;
}

KernelSet set_of_module(const CudaModule& module) {
    return {"cuda", module.functions, module.optimizer_kernels, library_matmul(), module.counts_dropout};
}

const KernelSet& usual_kernels(at::Device device) {
    static const KernelSet of_cpu = set_of_cpu();
    if (device.is_cpu()) return of_cpu;
    const CudaModule* const module = device.is_cuda() ? cuda_module() : nullptr;
    static const KernelSet of_gpu = module != nullptr ? set_of_module(*module) : plain_kernels();
    return of_gpu;
}

}  // namespace

const CudaModule* cuda_module() {
    static const CudaModule* const module = open_module();
    return module;
}

const KernelSet& reference_kernels() {
    static const KernelSet set{"reference", reference::functions(), &reference_optimizer_kernels(), reference_matmul()};
    return set;
}

KernelSet plain_kernels() {
    KernelSet set = reference_kernels();
    set.matmul = library_matmul();
    return set;
}

std::vector<KernelSet> available_kernels(at::Device device, const std::set<std::string>& asked) {
    InUse& of_type = in_use(device.type());
    std::vector<KernelSet> sets;
    {
        const std::lock_guard lock(of_type.mutex);
        sets = of_type.offered;
    }
    if (sets.empty() && device.is_cuda() && cuda_module() != nullptr) {
        sets.push_back(usual_kernels(device));
        for (const KernelSet& other : cuda_module()->alternatives) sets.push_back(other);
    }
    std::erase_if(sets, [&](const KernelSet& set) { return set.only_if_asked && !asked.contains(set.name); });
    if (!sets.empty()) sets.push_back(reference_kernels());
    return sets;
}

void offer_kernels(at::DeviceType type, std::vector<KernelSet> sets) {
    InUse& of_type = in_use(type);
    const std::lock_guard lock(of_type.mutex);
    of_type.offered = std::move(sets);
}

const KernelSet& kernels_for(at::Device device) {
    const KernelSet* const chosen = in_use(device.type()).chosen.load(std::memory_order_acquire);
    return chosen != nullptr ? *chosen : usual_kernels(device);
}

void use_kernels(at::DeviceType type, const KernelSet& kernels) {
    InUse& of_type = in_use(type);
    const bool is_static = &kernels == &reference_kernels() || &kernels == &usual_kernels(at::Device(type));
    const std::lock_guard lock(of_type.mutex);
    const bool is_kept = is_static || std::any_of(of_type.kept.begin(), of_type.kept.end(),
                                                  [&](const KernelSet& kept) { return &kept == &kernels; });
    of_type.chosen.store(is_kept ? &kernels : &of_type.kept.emplace_back(kernels), std::memory_order_release);
}

void use_usual_kernels(at::DeviceType type) {
    offer_kernels(type, {});
    in_use(type).chosen.store(nullptr, std::memory_order_release);
}

const FunctionTable& functions_for(at::Device device) { return kernels_for(device).functions; }

const OptimizerKernels& optimizer_kernels_for(at::Device device) { return *kernels_for(device).optimizer; }

}  // namespace bertpretrain
