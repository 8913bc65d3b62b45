// Reads training batches as `train` does:  time_loader SOURCES STEPS SEQUENCES FILE...
// Divides the shards among SOURCES sources of equal weight. Prints the samples of STEPS steps of SEQUENCES sequences, their wall
// seconds and the CPU seconds of the process.

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>

#include "batches/batch_loader.h"
#include "core/guard.h"
#include "shards/shard_probe.h"

using namespace bertpretrain;

namespace {

constexpr std::int64_t warm_up_steps = 5;

TrainingSources divided(std::size_t count, const std::vector<std::filesystem::path>& files) {
    std::vector<std::vector<std::filesystem::path>> files_of_each(count);
    for (std::size_t i = 0; i < files.size(); ++i) files_of_each[i % count].push_back(files[i]);
    return {std::move(files_of_each), Mixture({{0, std::vector<std::int64_t>(count, 1)}})};
}

}  // namespace

int main(int argc, char** argv) {
    if (const auto answered = answer_probe(argc, argv)) return *answered;
    if (argc < 5) return 2;
    return run_guarded([&] {
        const std::int64_t steps = std::stoll(argv[2]);
        BatchLoaderSettings settings;
        settings.global_batch_sequences = settings.micro_batch_size = std::stoll(argv[3]);
        settings.format = {.sequence_length = 128, .max_position_embeddings = 128, .vocab_size = 30528};
        BatchLoader loader(divided(std::stoull(argv[1]), {argv + 4, argv + argc}), settings);
        for (std::int64_t step = 0; step < warm_up_steps; ++step) loader.next();
        const auto begin = std::chrono::steady_clock::now();
        const std::clock_t cpu_begin = std::clock();
        std::int64_t samples = 0;
        for (std::int64_t step = 0; step < steps; ++step) samples += loader.next().sequences;
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        std::cout << samples << " " << wall.count() << " " << static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC << "\n";
        return 0;
    });
}
