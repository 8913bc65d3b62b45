#include "operations/this_machine.h"

#include "core/concat.h"
#include "core/strings.h"
#include "operations/device.h"
#include "operations/gemm_roof.h"
#include "operations/machine_memory.h"

namespace bertpretrain {
namespace {

/// The model's FLOP/s in training as a share of the GEMM rate, BERT-Large, 128 tokens: 0.62 on an H100
/// (scripts/benchmark/README.md).
constexpr double share_on_gpu = 0.6, share_on_cpu = 0.5;

}  // namespace

double sustained_share(bool on_gpu) { return on_gpu ? share_on_gpu : share_on_cpu; }

Accelerator this_machine(at::Device device, at::ScalarType type) {
    const double share = sustained_share(!device.is_cpu()), roof = measured_gemm_roof(device, type) * 1e-12;
    Accelerator here;
    here.name = "this";
    here.sustained_tflops = share * roof;
    here.memory_gib = static_cast<double>(device.is_cpu() ? host_memory_limit() : available_memory(device)) / 0x1p30;
    here.is_cpu = device.is_cpu();
    here.per_node = device.is_cpu() ? 1 : usable_gpus();
    here.source =
        concat("this machine: ", fixed(share, 1), " of its matmul rate, measured just now as ", fixed(roof, 3), " TFLOP/s");
    return here;
}

}  // namespace bertpretrain
