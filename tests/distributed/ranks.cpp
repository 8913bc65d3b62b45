#include "distributed/ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>

#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "core/error.h"
#include "support/free_port.h"

namespace bertpretrain::testing {
namespace fs = std::filesystem;
using nlohmann::json;

fs::path write_distributed_experiment(const TemporaryFolder& folder, const json& patch) {
    json experiment = {{"batch", {{"micro_batch_size", 4}, {"gradient_accumulation_steps", 1}, {"global_batch_size", 24}}},
                       {"schedule", {{"total_steps", 30}}},
                       {"optimizer", {{"max_grad_norm", 1.0}}},
                       {"parallel", {{"bucket_mib", 0.1}, {"timeout_seconds", 20}, {"first_step_timeout_seconds", 60}}},
                       {"checkpoint", {{"save_every_steps", 10}}}};
    experiment.merge_patch(patch);
    return write_experiment(folder, experiment);
}

std::vector<int> train_two(const fs::path& config, const fs::path& run, const std::string& of_first,
                           const std::string& of_second) {
    const int port = free_port();
    std::list<Process> ranks;
    for (const std::string& options : {of_first, of_second})
        ranks.emplace_back(concat("env RANK=", ranks.size(), " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=", port, " ",
                                  train_command(config, run, options)));
    std::vector<int> codes;
    for (Process& rank : ranks) codes.push_back(rank.wait());
    return codes;
}

double largest_difference(const fs::path& run_a, const fs::path& run_b) {
    return largest_difference(numbers_of(run_a), numbers_of(run_b));
}

double parameter_difference(const fs::path& run_a, const fs::path& run_b) {
    const CheckpointReader a(*CheckpointStore(run_a / "checkpoints").newest_complete());
    const CheckpointReader b(*CheckpointStore(run_b / "checkpoints").newest_complete());
    double largest = a.step() == b.step() ? 0 : std::numeric_limits<double>::infinity();
    for (const TensorDescription& tensor : a.parameters()) {
        std::int64_t elements = 1;
        for (const std::int64_t size : tensor.shape) elements *= size;
        std::vector<float> of_a(static_cast<std::size_t>(elements)), of_b(of_a.size());
        a.read_parameter(tensor.name, 0, of_a.data(), elements);
        b.read_parameter(tensor.name, 0, of_b.data(), elements);
        for (std::size_t i = 0; i < of_a.size(); ++i)
            largest = std::max(largest, std::fabs(static_cast<double>(of_a[i]) - static_cast<double>(of_b[i])));
    }
    return largest;
}

std::int64_t last_step(const fs::path& run) {
    std::int64_t step = 0;
    for (const std::string& line : lines_so_far(run / "metrics.jsonl")) step = json::parse(line).at("step").get<std::int64_t>();
    return step;
}

bool has_checkpoint(const fs::path& run) { return CheckpointStore(run / "checkpoints").newest_complete().has_value(); }

}  // namespace bertpretrain::testing
