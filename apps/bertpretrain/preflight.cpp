// bertpretrain preflight CONFIG

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "rank_options.h"

#include "core/error.h"
#include "core/strings.h"
#include "preflight/preflight_report.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct PreflightArguments {
    std::string config, output;
    std::vector<std::string> overrides;
    std::int64_t local_ranks = 0;
    std::optional<std::string> max_bytes, burn_in;
    PreflightRequest request;  // its folder, largest tensor and burn-in are set from the texts above
    bool json = false;
};

/// Returns the bytes of "1G", "64M", "4K" or a number, in powers of 1024 as in nccl-tests. @throws ConfigError
std::int64_t bytes_of(const std::string& text) {
    std::size_t end = 0;
    double number = 0;
    try {
        number = std::stod(text, &end);
    } catch (const std::exception&) {}
    const std::map<std::string, double> units{{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
    const auto unit = units.find(text.substr(std::min(end, text.size())));
    if (unit == units.end() || !(number * unit->second >= 8) || number * unit->second > 1e12)
        throw ConfigError(concat("--max-bytes ", text, ": expected 8 or more, such as 64M or 1G"));
    return static_cast<std::int64_t>(number * unit->second);
}

/// @throws ConfigError
double burn_in_seconds_of(const std::string& text) {
    const std::optional<double> seconds = duration_seconds(text);
    if (!seconds) throw ConfigError(concat("--burn-in ", text, ": expected a duration such as 10m or 1h"));
    return *seconds;
}

int preflight(const PreflightArguments& arguments) {
    const fs::path run = run_folder(arguments.output, arguments.config);
    const std::vector<TrainingPhase> phases = request_phases(arguments.config, arguments.overrides, run);
    const Launch launch = read_launch();
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch)) return *code;
    PreflightRequest request = arguments.request;
    if (arguments.max_bytes) request.max_bytes = bytes_of(*arguments.max_bytes);
    if (arguments.burn_in) request.dry_run.burn_in_seconds = burn_in_seconds_of(*arguments.burn_in);
    request.run_folder = run;
    request.later_phases.assign(phases.begin() + 1, phases.end());
    const PreflightResult result = run_preflight(phases.front().experiment, request, launch);
    if (result.dry_run && result.dry_run->stopped_by != 0) return 128 + result.dry_run->stopped_by;
    if (launch.rank == 0)
        std::cout << (arguments.json ? report_json(result, launch.world_size).dump(2) + "\n" : report_text(result)) << std::flush;
    return static_cast<int>(exit_code_of(result.findings));
}

}  // namespace

void add_preflight_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<PreflightArguments>();
    CLI::App* command = app.add_subcommand(
        "preflight", "Checks machines, network and files before a long job; of later phases, their shards and memory");
    command->add_option("config", arguments->config, "The experiment file (JSON)")->required();
    command->add_option("--output", arguments->output,
                        "The run's folder, whose disk is checked. Default: runs/NAME for an experiment NAME.json");
    add_local_ranks_option(*command, arguments->local_ranks);
    add_set_option(*command, arguments->overrides);
    command->add_option("--repetitions", arguments->request.repetitions, "How often to run each tensor operation")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command->add_option("--max-bytes", arguments->max_bytes,
                        "Largest tensor of the collectives, such as 1G. Default: 64M on CPUs, 1G on GPUs");
    command->add_option("--steps", arguments->request.dry_run.steps, "Steps of the dry run")
        ->check(CLI::Range(2, 1000))
        ->capture_default_str();
    command->add_option("--burn-in", arguments->burn_in,
                        "Run steps for this long, such as 10m, and compare the ranks' computations bit by bit in each of them");
    command->add_option("--slow", arguments->request.slow, "Report a rank as slow below this share of the ranks' median")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command
        ->add_option("--require-transport", arguments->request.require_transport,
                     "Fail unless tensors travel between hosts by this transport")
        ->check(CLI::IsMember({"efa", "infiniband", "sockets"}));
    command->add_flag("--json", arguments->json, "Print everything as one JSON object");
    command->callback([arguments, &exit_code] { exit_code = preflight(*arguments); });
}

}  // namespace bertpretrain
