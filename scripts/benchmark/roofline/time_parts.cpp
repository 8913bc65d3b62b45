// Times the parts of a training step, each part once per round, and prints one JSON object.
//   time_parts '{"device": "cpu", "rounds": 9, "layers": 24, ...}'   the shape as in step_parts.h; what is left out is as there
//   time_parts roof                                                  only the processor's peak rate

#include <algorithm>
#include <iostream>
#include <string>

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/median.h"
#include "core/threads/short_spinning.h"
#include "instruction_roof.h"
#include "kernels/matmul_libraries.h"
#include "model/architecture.h"
#include "model/tensor_memory.h"
#include "operations/device_check.h"
#include "operations/gemm_roof.h"
#include "operations/measure_matmul_libraries.h"
#include "plan/device_choice.h"
#include "step_parts.h"

namespace {

using namespace bertpretrain;
using namespace bertpretrain::benchmark;
using nlohmann::json;

/// Returns the seconds of one call. On a GPU, queues 20 calls and divides by 20, because the GPU is idle until the first arrives.
double seconds_of(const std::function<void(std::size_t)>& run, std::size_t set, at::Device device) {
    const int repetitions = device.is_cpu() ? 1 : 20;
    synchronize(device);
    const double begin = seconds_now();
    for (int i = 0; i < repetitions; ++i) run((set + static_cast<std::size_t>(i)) % operand_sets);
    synchronize(device);
    return (seconds_now() - begin) / repetitions;
}

/// The seconds of an operation's calls.
struct Times {
    std::vector<double> all;
    std::vector<double> undisturbed;  ///< those between two moments at which tiles were multiplied at full speed
};

/// Returns the times of each, with all timed in turns.
/// @param full_rate of tiles, in FLOP/s; 0: unknown
std::vector<Times> time_in_turns(const std::vector<std::function<void(std::size_t)>>& runs, int rounds, at::Device device,
                                 double full_rate) {
    constexpr double undisturbed = 0.8;
    const auto is_undisturbed = [&] { return full_rate > 0 && tile_rate_now() > undisturbed * full_rate; };
    std::vector<Times> times(runs.size());
    for (int round = -1; round < rounds; ++round)
        for (std::size_t r = 0; r < runs.size(); ++r) {
            const bool before = is_undisturbed();
            const double one = seconds_of(runs[r], static_cast<std::size_t>(round + 1) % operand_sets, device);
            if (round < 0) continue;
            times[r].all.push_back(one);
            if (before && is_undisturbed()) times[r].undisturbed.push_back(one);
        }
    return times;
}

/// Uses the fastest measured library for each matmul, as a run does.
void choose_matmul_libraries(const StepShape& shape) {
    ModelConfig model;
    model.bert.hidden_size = shape.hidden;
    model.bert.intermediate_size = shape.is_modern() ? 2 * shape.intermediate : shape.intermediate;
    model.bert.vocab_size = shape.vocabulary;
    if (shape.device.is_cpu() && may_others_be_faster())
        use_matmul_libraries(measure_matmul_libraries(model, shape.sequences * shape.length));
}

json roofs(at::Device device) {
    json all = json::object();
    if (device.is_cuda()) return {{"bf16, 8192 x 8192 x 8192", measured_gemm_roof(device, at::kBFloat16)}};
    for (const InstructionRoof& roof : instruction_roofs(at::get_num_threads())) all[roof.name] = roof.flops_per_second;
    return all;
}

json timed_parts(const StepShape& shape, int rounds, double full_rate) {
    std::vector<Part> parts = product_parts(shape);
    for (Part& part : shape.is_modern() ? modern_parts(shape) : bert_parts(shape)) parts.push_back(std::move(part));
    for (Part& part : shared_parts(shape)) parts.push_back(std::move(part));
    std::vector<std::function<void(std::size_t)>> runs;
    for (const Part& part : parts) runs.push_back(part.run);
    std::vector<Times> times = time_in_turns(runs, rounds, shape.device, full_rate);
    json all = json::array();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        all.push_back({{"name", parts[i].name},
                       {"group", parts[i].group},
                       {"calls", parts[i].calls},
                       {"flops", parts[i].flops},
                       {"bytes", parts[i].bytes},
                       {"seconds", median(times[i].all)},
                       {"undisturbed_calls", times[i].undisturbed.size()}});
        if (!times[i].undisturbed.empty()) all.back()["undisturbed_seconds"] = median(times[i].undisturbed);
    }
    return all;
}

json timed_candidates(const StepShape& shape, int rounds) {
    json all = json::array();
    for (const MatmulCandidates& product : matmul_candidates(shape)) {
        std::vector<Times> times = time_in_turns({product.ours, product.onednn, product.mkl}, rounds, shape.device, 0);
        all.push_back({{"name", product.name},
                       {"flops", product.flops},
                       {"ours", median(times[0].all)},
                       {"oneDNN", median(times[1].all)},
                       {"MKL", median(times[2].all)}});
    }
    return all;
}

StepShape shape_of(const json& settings) {
    StepShape shape;
    shape.device = device_named(settings.value("device", "cpu"), 0);
    for (const auto& [name, field] :
         {std::pair("layers", &shape.layers), std::pair("hidden", &shape.hidden), std::pair("heads", &shape.heads),
          std::pair("intermediate", &shape.intermediate), std::pair("vocabulary", &shape.vocabulary),
          std::pair("sequences", &shape.sequences), std::pair("length", &shape.length), std::pair("masked", &shape.masked),
          std::pair("global_every", &shape.global_every), std::pair("window", &shape.window)})
        *field = settings.value(name, *field);
    return shape;
}

}  // namespace

int main(int argc, char** argv) {
    shorten_spinning(argv);  // as a run does: OpenMP's threads would otherwise keep the cores from ours
    if (argc == 2 && std::string(argv[1]) == "roof") {
        std::cout << roofs(at::kCPU).dump() << std::endl;
        return 0;
    }
    if (argc != 2) {
        std::cerr << "usage: time_parts SHAPE (a JSON object) | time_parts roof\n";
        return 2;
    }
    const json settings = json::parse(argv[1]);
    const StepShape shape = shape_of(settings);
    const bool on_gpu = shape.device.is_cuda();
    if (!on_gpu) keep_tensor_memory();  // as in a run: new memory from the system would cost page faults
    const int rounds = settings.value("rounds", 9);
    choose_matmul_libraries(shape);
    json result{{"roofs_before", roofs(shape.device)}, {"threads", at::get_num_threads()}};
    result["parts"] = timed_parts(shape, rounds, result["roofs_before"].value("bf16 AMX", 0.0));
    if (!on_gpu) result["candidates"] = timed_candidates(shape, rounds);
    result["roofs_after"] = roofs(shape.device);
    std::cout << result.dump() << std::endl;
    return 0;
}
