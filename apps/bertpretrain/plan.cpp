// bertpretrain plan CONFIG

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "rank_options.h"

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "kernels/cpu/operation_threads.h"
#include "operations/device.h"
#include "operations/forecast_grid.h"
#include "operations/plan_fit.h"
#include "operations/this_machine.h"
#include "plan/memory_plan.h"
#include "plan/planned_step.h"
#include "plan/resolve.h"
#include "plan/training_phases.h"
#include "reports/hourly_prices.h"
#include "reports/run_history.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

struct PlanArguments {
    std::string config, fit, deadline;
    std::vector<std::string> overrides, accelerators{"this"};
    std::vector<std::string> networks;      ///< empty: of each accelerator its own
    std::vector<std::int64_t> world_sizes;  ///< empty until world_sizes_of()
    std::vector<std::string> prices;
    std::optional<double> tflops, memory_gib, tokens;
    std::optional<std::int64_t> per_node, steps;
    ForecastInputs run;
    double save_gbps = 1;
    bool no_overlap = false, json = false;
};

/// Returns the hours of a text such as "24h", "90m" or "3d". @throws ConfigError
double hours_of(const std::string& text) {
    const std::optional<double> seconds = duration_seconds(text);
    if (!seconds) throw ConfigError(concat("--deadline ", text, ": expected a number of hours, such as 24h; also 90m, 3d"));
    return *seconds / 3600;
}

std::optional<MeasuredRun> measured_run(const PlanArguments& arguments) {
    if (arguments.fit.empty()) return std::nullopt;
    const RunHistory run = read_run(arguments.fit);
    return measure(run.metrics, run.sessions.back().ranks);
}

/// Warns where the rate of --fit is that of another model or kind of device. A run of an older version may lack its plan.
void warn_of_other_fit(const PlanArguments& arguments, const RunPlan& plan, const std::vector<Accelerator>& accelerators) {
    const std::filesystem::path file = RunPaths(read_run(arguments.fit).parts.back()).plan();
    if (!std::filesystem::exists(file)) return;
    const nlohmann::json then = nlohmann::json::parse(read_file(file)), now = to_json(plan);
    std::vector<std::string> differences;
    const auto value = [](const nlohmann::json& of, const char* path) {
        return of.value(nlohmann::json::json_pointer(path), nlohmann::json());
    };
    for (const char* name : {"model_type", "hidden_size", "num_hidden_layers", "intermediate_size"}) {
        const std::string path = concat("/model/", name, "/value");
        if (const auto a = value(then, path.c_str()), b = value(now, path.c_str()); a != b)
            differences.push_back(concat("model.", name, " ", a.dump(), ", here ", b.dump()));
    }
    const bool on_cpu = value(then, "/training/device/value") == "cpu";
    for (const Accelerator& accelerator : accelerators)
        if (accelerator.is_cpu != on_cpu) differences.push_back(concat(on_cpu ? "a CPU" : "a GPU", ", here ", accelerator.name));
    if (differences.empty()) return;
    log_warning(concat("--fit ", arguments.fit, ": the rate that it gives is that of another run: ", join(differences, "; "),
                       "\n  do: fit a run of the same model on the same device, or leave out --fit"));
}

Accelerator this_machine_for(const RunPlan& plan) { return this_machine(open_device(usable_gpus() > 0, 0), plan.compute.dtype); }

/// Returns the known numbers of an accelerator, replaced by measured ones and by those on the command line.
/// @param tokens per sequence, for which --tflops is given
Accelerator accelerator_of(const std::string& name, const PlanArguments& arguments, const RunPlan& plan,
                           const std::optional<MeasuredRun>& measured, double tokens) {
    Accelerator accelerator = name == "this" ? this_machine_for(plan) : find_accelerator(name);
    if (!measured && !arguments.tflops) accelerator = with_rate_of(std::move(accelerator), plan.settings.model, tokens);
    if (measured) {
        accelerator.sustained_tflops = measured->tflops_per_rank;
        accelerator.rate_tokens = measured->tokens_per_sequence;
        accelerator.memory_gbps = 0;  // the measured rate includes the update
        accelerator.source = "fitted to " + arguments.fit;
        accelerator.program.reset();
    }
    accelerator.sustained_tflops = arguments.tflops.value_or(accelerator.sustained_tflops);
    accelerator.memory_gib = arguments.memory_gib.value_or(accelerator.memory_gib);
    if (const std::optional<Money> price = HourlyPrices::parse(arguments.prices).of(name)) {
        accelerator.price_per_hour = price->amount;
        accelerator.currency = price->currency;
        accelerator.price_source = "price: --price";
    }
    if (arguments.tflops) {
        accelerator.rate_tokens = tokens;
        accelerator.source += "; TFLOP/s: --tflops";
    } else if (!measured && !accelerator.is_cpu && plan.settings.training.fp8_matmuls) {
        accelerator.source += "; with matmuls in bf16: training.fp8_matmuls (compute capability 8.9 or more) was not measured";
    }
    accelerator.per_node = arguments.per_node.value_or(accelerator.per_node);
    return accelerator;
}

/// @throws ConfigError when the costs would be in several currencies, or a price is for an accelerator that is not planned for
void check_prices(const PlanArguments& arguments, const std::vector<Accelerator>& accelerators) {
    HourlyPrices::parse(arguments.prices).require_accelerators(arguments.accelerators);
    std::set<std::string> currencies;
    for (const Accelerator& accelerator : accelerators)
        if (accelerator.price_per_hour > 0) currencies.insert(accelerator.currency);
    if (currencies.size() > 1)
        throw ConfigError(
            concat("--price: prices are in ", join({currencies.begin(), currencies.end()}),
                   "; expected one currency\n  do: give the price of each accelerator, NAME=PRICE, in the same one"));
}

/// Memory of a rank, with the pass that it computes.
struct RankMemory {
    MemoryPlan plan;
    PlannedPass pass;
    std::uint64_t needed = 0;  ///< bytes in the accelerator's own memory
};

/// Resolves the experiment's plan for any number of accelerators. Uses the shards' manifest and vocabulary if they are here.
struct Forecaster {
    RequestedExperiment experiment;
    DataFacts data;

    explicit Forecaster(RequestedExperiment given)
        : experiment(std::move(given)), data(look_at_data(experiment.settings.data, false)) {}

    /// @param per_node ranks of a node
    RunPlan on(std::int64_t world_size, std::optional<std::int64_t> zero_stage = std::nullopt, std::int64_t per_node = 1) const {
        RequestedExperiment asked = experiment;
        if (zero_stage) asked.settings.parallel.zero_stage = *zero_stage;
        Launch launch;
        launch.world_size = world_size;
        launch.nodes = (world_size + per_node - 1) / per_node;
        launch.in_stages = goes_in_stages(world_size, per_node);
        MachineFacts accelerators;
        accelerators.gpus = 1;
        return resolve(asked, launch, accelerators, data, nullptr);
    }

    /// For accelerators that this program does not run on, the pass has the tokens that their rate was measured with.
    RankMemory memory(const Accelerator& accelerator, std::int64_t world_size, std::int64_t zero_stage) const {
        RunPlan plan = on(world_size, zero_stage, accelerator.per_node);
        const ParameterLayout layout = layout_of(plan.settings.model, plan.settings.parallel.bucket_mib, world_size);
        const double most = memory_for_tensors(accelerator);
        RankMemory rank;
        rank.pass.sequences =
            planned_pass(plan, layout, accelerator.is_cpu ? 0 : most, accelerator.runs_here ? INFINITY : accelerator.pass_tokens);
        plan.batch.device_micro_batch = rank.pass.sequences;
        rank.plan = plan_memory(plan, layout, cpu::operation_threads(), data.training_rows);
        rank.needed = accelerator.is_cpu ? rank.plan.peak() : rank.plan.on_gpu();
        if (accelerator.memory_gib > 0) rank.pass.fits = static_cast<double>(rank.needed) <= most;
        return rank;
    }
};

ForecastGrid plan_inputs(const Forecaster& forecaster, const PlanArguments& arguments,
                         const std::optional<MeasuredRun>& measured) {
    ForecastGrid inputs;
    inputs.world_sizes = arguments.world_sizes;
    const RunPlan plan = forecaster.on(inputs.world_sizes.back());  // on one rank, gradients are fp32 in any case
    const double measured_tokens =
        measured ? measured->tokens_per_sequence : static_cast<double>(plan.settings.data.sequence_length);
    inputs.step = planned_step(plan);
    inputs.step.tokens_per_sequence = arguments.tokens.value_or(measured_tokens);
    inputs.step.masked_per_sequence = plan.data.masked_lm_prob * inputs.step.tokens_per_sequence;
    inputs.pass = [forecaster, stage = inputs.step.zero_stage](const Accelerator& accelerator, std::int64_t world_size) {
        return forecaster.memory(accelerator, world_size, stage).pass;
    };
    inputs.step.overlaps = !arguments.no_overlap;
    inputs.batch_sizes = [forecaster](std::int64_t world_size) { return forecaster.on(world_size).settings.batch.sizes(); };
    for (const std::string& name : arguments.accelerators)
        inputs.accelerators.push_back(accelerator_of(name, arguments, plan, measured, inputs.step.tokens_per_sequence));
    check_prices(arguments, inputs.accelerators);
    if (measured) warn_of_other_fit(arguments, plan, inputs.accelerators);
    for (const std::string& name : arguments.networks) inputs.networks.push_back(find_network(name));
    inputs.run = arguments.run;
    inputs.run.steps = arguments.steps.value_or(plan.settings.schedule.total_steps);
    inputs.save_gbps = arguments.save_gbps;
    inputs.background = plan.settings.checkpoint.background;
    return inputs;
}

std::string memory_table(const Forecaster& forecaster, const ForecastGrid& inputs) {
    Table table({"accelerator", "ranks", "ZeRO", "pass", "weights", "gradients", "optimizer", "transfer", "activations", "needed",
                 "usable", "fits", "snapshot", "data", "program", "host"});
    for (const Accelerator& accelerator : inputs.accelerators)
        for (const std::int64_t ranks : inputs.world_sizes)
            for (const std::int64_t stage : {0, 1}) {
                const auto [plan, pass, needed] = forecaster.memory(accelerator, ranks, stage);
                std::vector<std::string> row{accelerator.name, std::to_string(ranks), std::to_string(stage),
                                             std::to_string(pass.sequences)};
                for (const std::uint64_t bytes :
                     {plan.weights, plan.gradients, plan.optimizer, plan.transfer, plan.activations, needed})
                    row.push_back(bytes_text(bytes));
                row.push_back(pass.fits ? bytes_text(static_cast<std::uint64_t>(memory_for_tensors(accelerator))) : "-");
                row.push_back(pass.fits ? *pass.fits ? "yes" : "no" : "-");
                for (const std::uint64_t bytes : {plan.snapshot, plan.data, plan.program, plan.beside_gpu()})
                    row.push_back(bytes_text(bytes));
                table.add(row);
            }
    return table.text();
}

std::string fit_text(const MeasuredRun& run) {
    return concat("measured on ", run.world_size, " rank(s): ", fixed(run.tokens_per_sequence, 1),
                  " tokens per sequence; a step of ", fixed(run.step_seconds, 4), " s computes for ",
                  fixed(run.computing_seconds, 4), " s and waits for ", fixed(run.exposed_seconds, 4), " of ",
                  fixed(run.communication_seconds, 4), " s of communication; ", fixed(run.tflops_per_rank, 4), " TFLOP/s and ",
                  fixed(run.sent_gbps, 4), " GB/s sent per rank\n\n");
}

nlohmann::ordered_json json_of(const Forecaster& forecaster, const std::vector<ForecastRow>& runs,
                               const std::optional<MeasuredRun>& measured) {
    nlohmann::ordered_json out;
    for (const ForecastRow& planned : runs) {
        const MemoryPlan memory = forecaster.memory(planned.accelerator, planned.step.world_size, planned.step.zero_stage).plan;
        out["plan"].push_back(plan_json(planned));
        out["plan"].back()["memory_bytes"] = memory.peak();
        out["plan"].back()["gpu_memory_bytes"] = memory.on_gpu();
        out["plan"].back()["host_memory_bytes"] = memory.beside_gpu();
    }
    if (measured)
        out["fit"] = {{"tflops_per_rank", measured->tflops_per_rank},
                      {"tokens_per_sequence", measured->tokens_per_sequence},
                      {"computing_seconds", measured->computing_seconds},
                      {"step_seconds", measured->step_seconds},
                      {"sent_gbps", measured->sent_gbps}};
    return out;
}

/// Prints the plan of an experiment, or with --json adds it to `out`. @param whole_deadline whether --deadline is for this alone
std::vector<ForecastRow> plan(const RequestedExperiment& experiment, const PlanArguments& arguments, bool whole_deadline,
                              nlohmann::ordered_json& out) {
    const Forecaster forecaster(experiment);
    if (shape_of(forecaster.experiment.settings.model).vocab_size == 0 && !forecaster.data.is_there)
        log_warning(concat("model.vocab_size is \"auto\" and ", forecaster.experiment.settings.data.training_shards.first(),
                           " does not exist; assuming BERT's own vocabulary, ",
                           with_thousands(shape_of(forecaster.on(1).settings.model).vocab_size), " rows"));
    for (const std::string& warning : forecaster.on(1).warnings) log_warning(warning);
    const auto deadline =
        arguments.deadline.empty() || !whole_deadline ? std::nullopt : std::optional(hours_of(arguments.deadline));
    const std::optional<MeasuredRun> measured = measured_run(arguments);
    const ForecastGrid inputs = plan_inputs(forecaster, arguments, measured);
    std::vector<ForecastRow> runs = plan_runs(inputs);
    if (arguments.json) {
        out = json_of(forecaster, runs, measured);
        return runs;
    }
    std::cout
        << (measured ? fit_text(*measured) : "") << "Assumed machines (--accelerator, --network and --price choose others):\n"
        << plan_assumptions(runs)
        << "\nPeak memory of a rank that computes \"pass\" sequences at once. \"needed\" is in the accelerator's own memory,\n"
           "the sum of the five columns before it (on a CPU, also \"host\"); \"usable\" is what the CUDA context, NCCL and\n"
           "fragments leave there. \"host\" is in the host's memory, the sum of the three columns before it.\n"
        << memory_table(forecaster, inputs) << "\nTime and cost of the run at ZeRO " << inputs.step.zero_stage
        << ". \"efficiency\" is the rate per accelerator against the smallest number of ranks.\n"
        << (arguments.no_overlap
                ? "Communication starts only after the backward pass.\n"
                : "Communication overlaps with computing, where no other program is named above; programs without overlap\n"
                  "are slower (--no-overlap).\n")
        << plan_table(runs, deadline) << std::flush;
    return runs;
}

/// The sum of a run's phases on the same machines.
struct PhasesSum {
    double hours = 0, failures = 0;
    std::optional<double> cost = 0;
};

std::vector<PhasesSum> sums_of(const std::vector<std::vector<ForecastRow>>& phases) {
    std::vector<PhasesSum> sums(phases.front().size());
    for (const std::vector<ForecastRow>& phase : phases)
        for (std::size_t row = 0; row < phase.size(); ++row) {
            const Forecast& forecast = phase[row].forecast;
            sums[row].hours += forecast.hours;
            sums[row].failures += forecast.failures;
            sums[row].cost = forecast.cost && sums[row].cost ? std::optional(*sums[row].cost + *forecast.cost) : std::nullopt;
        }
    return sums;
}

void plan_phases(const std::vector<TrainingPhase>& phases, const PlanArguments& arguments) {
    if (arguments.steps)
        throw ConfigError(concat("--steps ", *arguments.steps, ": each phase of ", arguments.config, " has a length of its own",
                                 "\n  do: use --set phases.NAME.schedule.total_steps=", *arguments.steps));
    nlohmann::ordered_json out;
    std::vector<std::vector<ForecastRow>> rows;
    for (const TrainingPhase& phase : phases) {
        if (!arguments.json) std::cout << "== " << title_of(phase) << " ==\n";
        nlohmann::ordered_json one;
        rows.push_back(plan(phase.experiment, arguments, false, one));
        out["phases"][phase.name] = std::move(one);
        if (!arguments.json) std::cout << "\n";
    }
    const bool has_deadline = !arguments.deadline.empty();
    const double deadline = has_deadline ? hours_of(arguments.deadline) : 0;
    const std::vector<PhasesSum> sums = sums_of(rows);
    Table table({"accelerator", "network", "ranks", "hours", concat("cost, ", rows.front().front().accelerator.currency),
                 "failures", has_deadline ? "deadline" : ""});
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const ForecastRow& row = rows.front()[i];
        table.add({row.accelerator.name, row.network.name, std::to_string(row.step.world_size), fixed(sums[i].hours, 1),
                   sums[i].cost ? with_thousands(std::llround(*sums[i].cost)) : "-", fixed(sums[i].failures, 2),
                   !has_deadline               ? ""
                   : sums[i].hours <= deadline ? "in time"
                                               : "too late"});
        out["sum"].push_back({{"accelerator", row.accelerator.name},
                              {"network", row.network.name},
                              {"ranks", row.step.world_size},
                              {"hours", sums[i].hours},
                              {"failures", sums[i].failures},
                              {"cost", sums[i].cost ? nlohmann::ordered_json(*sums[i].cost) : nlohmann::ordered_json()}});
    }
    if (arguments.json) std::cout << out.dump(2) << std::endl;
    else std::cout << "== all " << phases.size() << " phases ==\n" << table.text() << std::flush;
}

/// Returns the numbers of ranks to plan for, ascending: those of the command line, or usual ones for which all phases have enough
/// sequences in a step.
std::vector<std::int64_t> world_sizes_of(const std::vector<TrainingPhase>& phases, const PlanArguments& arguments) {
    std::vector<std::int64_t> sizes = arguments.world_sizes;
    if (sizes.empty() && arguments.accelerators == std::vector<std::string>{"this"})
        return {arguments.per_node.value_or(std::max<std::int64_t>(1, usable_gpus()))};
    if (sizes.empty()) {
        sizes = {1, 2, 4, 8, 16, 32, 64, 128};
        for (const TrainingPhase& phase : phases) {
            const BatchConfig& batch = phase.experiment.settings.batch;
            const std::int64_t sequences = batch.warmup_steps > 0 ? batch.warmup_from : batch.global_batch_size;
            std::erase_if(sizes, [&](std::int64_t ranks) { return sequences > 0 && ranks > sequences; });
        }
        const std::int64_t least = std::min<std::int64_t>(8, sizes.back());
        std::erase_if(sizes, [&](std::int64_t ranks) { return ranks < least; });
    }
    std::sort(sizes.begin(), sizes.end());
    return sizes;
}

void plan(PlanArguments arguments) {
    const std::vector<TrainingPhase> phases =
        request_phases(arguments.config, arguments.overrides, run_folder("", arguments.config));
    arguments.world_sizes = world_sizes_of(phases, arguments);
    if (!phases.front().name.empty()) return plan_phases(phases, arguments);
    nlohmann::ordered_json out;
    plan(phases.front().experiment, arguments, true, out);
    if (arguments.json) std::cout << out.dump(2) << std::endl;
}

void add_machine_options(CLI::App& command, PlanArguments& arguments) {
    command
        .add_option("--accelerator", arguments.accelerators,
                    "One or more of this (the machine that plan runs on, measured), v100, a100, a100-40, h100, h200, b200, "
                    "mi300x, gaudi1, trainium1")
        ->delimiter(',')
        ->capture_default_str();
    command
        .add_option(
            "--network", arguments.networks,
            "The network between nodes: efa32, ndr8, hdr8, efa4, efa1, tcp, or NAME:GB/S[:MICROSECONDS]. Default: that of "
            "the machines whose price is assumed, or efa4")
        ->delimiter(',');
    command.add_option("--tflops", arguments.tflops, "TFLOP/s of the model's operations that an accelerator sustains")
        ->check(CLI::PositiveNumber);
    command.add_option("--memory-gib", arguments.memory_gib, "Memory of an accelerator in GiB")->check(CLI::PositiveNumber);
    command.add_option(
        "--price", arguments.prices,
        "Price of an accelerator per hour, such as 2.50 or 2.50EUR. NAME=PRICE is for one accelerator; repeat the option "
        "for several");
    command.add_option("--ranks-per-node", arguments.per_node, "Accelerators per node, which share its network")
        ->check(CLI::PositiveNumber);
    command.add_option("--save-gbps", arguments.save_gbps, "Rate in GB/s at which a checkpoint is written, in the background")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        .add_option("--hours-between-failures", arguments.run.hours_between_failures,
                    "Mean hours between two failures of one accelerator")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--restart-seconds", arguments.run.restart_seconds, "Seconds from a failure to the next step")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
}

}  // namespace

void add_plan_command(CLI::App& app) {
    const auto arguments = std::make_shared<PlanArguments>();
    CLI::App* command =
        app.add_subcommand("plan", "Forecasts the memory, time, cost and failures of an experiment, and of each of its phases");
    command->add_option("config", arguments->config, "The experiment file (JSON)")->required();
    add_set_option(*command, arguments->overrides);
    command
        ->add_option(
            "--world-size", arguments->world_sizes,
            "Numbers of ranks to plan for. Default: those of 8,16,32,64,128 for which a step has enough sequences, or else the "
            "largest of 4,2,1; for this machine alone, its accelerators")
        ->delimiter(',')
        ->check(CLI::Range(1, 1 << 20));
    command->add_option("--fit", arguments->fit, "A run's folder: use the TFLOP/s and tokens per sequence that it measured");
    command->add_option("--tokens", arguments->tokens, "Mean tokens per sequence. Default: data.sequence_length")
        ->check(CLI::PositiveNumber);
    command->add_option("--steps", arguments->steps, "Steps of the run. Default: schedule.total_steps")
        ->check(CLI::PositiveNumber);
    command->add_option("--deadline", arguments->deadline, "Mark the rows that finish in this time: 24h, 90m, 3d");
    command->add_flag("--no-overlap", arguments->no_overlap, "Assume that communication starts only after the backward pass");
    command->add_flag("--json", arguments->json, "Print everything as one JSON object");
    add_machine_options(*command, *arguments);
    command->callback([arguments] { plan(*arguments); });
}

}  // namespace bertpretrain
