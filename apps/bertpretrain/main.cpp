// bertpretrain: pretrains BERT, and evaluates and exports the models.

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include <torch/version.h>

#include "command_line/program.h"
#include "commands.h"

#include "config/known_names.h"
#include "core/output/guard.h"
#include "core/threads/physical_cores.h"
#include "core/threads/short_spinning.h"
#include "kernels/cpu/library_limits.h"
#include "model/tensor_memory.h"
#include "parallel/nccl_environment.h"
#include "plan/experiment_config.h"
#include "shards/check/shard_probe.h"

namespace {

/// Makes malloc keep freed memory. Libraries allocate and free large buffers in every step, and so do tensors outside of a
/// trainer (model/tensor_memory.h). By default malloc maps and unmaps them each time, and the kernel clears their pages each
/// time.
void keep_freed_memory() {
    ::mallopt(M_MMAP_MAX, 0);
    ::mallopt(M_TRIM_THRESHOLD, -1);  // never
    ::mallopt(M_TOP_PAD, 64 << 20);
}

/// Says of an option that is no option of a command, but the name of a setting, how settings are given.
std::string setting_meant(const CLI::App& command, const std::string& option) {
    if (command.get_option_no_throw("--set") == nullptr) return "";
    const std::string guess = bertpretrain::known_names<bertpretrain::ExperimentConfig>().advice_on_path(option.substr(2));
    return guess.empty() ? "" : "settings are given as --set SETTING=VALUE: " + guess;
}

/// Whether the command runs operations on tensors for more than a moment.
bool computes(int argc, char** argv) {
    constexpr std::array commands{"train", "evaluate", "embed", "neighbours", "predict", "audit", "preflight", "plan"};
    return argc > 1 &&
           std::any_of(commands.begin(), commands.end(), [&](const char* one) { return std::strcmp(one, argv[1]) == 0; });
}

}  // namespace

int main(int argc, char** argv) {
    if (const std::optional<int> answered = bertpretrain::answer_probe(argc, argv)) return *answered;
    if (computes(argc, argv)) bertpretrain::shorten_spinning(argv);
    bertpretrain::set_nccl_environment(BERTPRETRAIN_NCCL_VERSION);
    keep_freed_memory();
    int exit_code = 0;
    CLI::App app("Pretrains BERT from sharded h5 data, one JSON file per experiment", "bertpretrain");
    app.require_subcommand(0, 1);
    bertpretrain::add_train_command(app, exit_code);
    bertpretrain::add_evaluate_command(app, exit_code);
    bertpretrain::add_embed_command(app, exit_code);
    bertpretrain::add_neighbours_command(app);
    bertpretrain::add_predict_command(app);
    bertpretrain::add_export_command(app);
    bertpretrain::add_average_command(app);
    bertpretrain::add_inspect_command(app);
    bertpretrain::add_config_command(app);
    bertpretrain::add_report_command(app);
    bertpretrain::add_compare_command(app, exit_code);
    bertpretrain::add_audit_command(app, exit_code);
    bertpretrain::add_plan_command(app);
    bertpretrain::add_preflight_command(app, exit_code);
    bertpretrain::add_program_options(
        app, {{"libtorch", TORCH_VERSION}, {"CUDA", BERTPRETRAIN_CUDA_VERSION}, {"NCCL", BERTPRETRAIN_NCCL_VERSION}});
    app.add_flag_callback(
           "--physical-cores",
           [] {
               std::cout << bertpretrain::available_physical_cores() << "\n";
               throw CLI::Success();
           },
           "Print how many physical cores this process may use, and exit")
        ->group("");  // for scripts/launch/node.sh
    const int code = bertpretrain::run_guarded([&] {
        bertpretrain::cpu::limit_libraries();
        bertpretrain::cpu::limit_threads();
        bertpretrain::with_bad_alloc([&] {
            if (const int refused = bertpretrain::parse_and_run(app, argc, argv, setting_meant); refused != 0)
                exit_code = refused;
        });
        return exit_code;
    });
    // Without the destructors of static objects: libtorch's take a quarter of a short command's time, and threads may still wait
    // for lost peers.
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(code);
}
