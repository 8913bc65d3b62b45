#include "operations/forecast_grid.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/output/table.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr double saved_bytes = 12;  // per parameter: fp32 weight and two moments

/// GB/s at which a rank copies its slice to page-locked host memory: assumed, below the 16 of PCIe 3.0 x16.
constexpr double snapshot_gbps = 10;

/// Of the time of a write in the background, the part by which training is longer: measured, 1.04 times as long a step beside a
/// save of BERT-Large (scripts/benchmark/README.md, "Checkpoints").
constexpr double delay_by_write = 0.04;

ForecastRow planned_run(const ForecastGrid& inputs, const Accelerator& accelerator, const Network& network,
                        std::int64_t world_size) {
    ForecastRow planned;
    planned.accelerator = accelerator;
    planned.network = network;
    planned.step = accelerator.program ? as_done_by(*accelerator.program, inputs.step) : inputs.step;
    planned.step.world_size = world_size;
    const BatchSizes sizes = inputs.batch_sizes(world_size);
    planned.step.global_batch = sizes.largest();
    if (inputs.pass) {
        const PlannedPass pass = inputs.pass(accelerator, world_size);
        planned.step.micro_batch_size = pass.sequences;
        planned.fits = pass.fits;
    }
    planned.time = step_time(planned.step, accelerator, network);
    ForecastInputs run = inputs.run;
    run.step_seconds = planned.time.total();
    run.steps = std::max<std::int64_t>(1, std::llround(sizes.steps_of(sizes.largest(), 0, run.steps)));
    run.accelerators = world_size;
    const double gigabytes = saved_bytes * static_cast<double>(planned.step.layout().parameter_elements()) * 1e-9;
    run.write_seconds = gigabytes / inputs.save_gbps;
    planned.save_seconds = run.save_seconds =
        inputs.background ? gigabytes / static_cast<double>(world_size) / snapshot_gbps + delay_by_write * run.write_seconds
                          : run.write_seconds;
    run.price_per_hour = accelerator.price_per_hour;
    planned.forecast = forecast(run);
    return planned;
}

std::string cost_text(const ForecastRow& planned) {
    return planned.forecast.cost ? with_thousands(std::llround(*planned.forecast.cost)) : "-";
}

/// Returns how the program of an accelerator's published rate communicates; "" if it does so as this one.
std::string program_text(const Accelerator& accelerator) {
    if (!accelerator.program) return "";
    const OtherProgram& program = *accelerator.program;
    return concat("; trained by ", program.name, ", which sends gradients of ", program.gradient_bytes, " bytes ",
                  program.overlaps ? "during" : "after", " the backward pass");
}

}  // namespace

std::vector<ForecastRow> plan_runs(const ForecastGrid& inputs) {
    std::vector<ForecastRow> plan;
    for (const Accelerator& accelerator : inputs.accelerators)
        for (const Network& network :
             inputs.networks.empty() ? std::vector{find_network(accelerator.network)} : inputs.networks) {
            const std::size_t smallest = plan.size();
            for (const std::int64_t world_size : inputs.world_sizes) {
                plan.push_back(planned_run(inputs, accelerator, network, world_size));
                plan.back().efficiency = plan.back().per_accelerator() / plan[smallest].per_accelerator();
            }
        }
    return plan;
}

std::string plan_table(const std::vector<ForecastRow>& plan, const std::optional<double>& deadline_hours) {
    Table table({"accelerator", "network", "ranks", "batch", "pass", "step s", "exposed s", "sequences/s", "each", "efficiency",
                 "hours", concat("cost, ", plan.empty() ? "USD" : plan.front().accelerator.currency), "failures", "save every",
                 deadline_hours ? "deadline" : ""});
    for (const ForecastRow& planned : plan) {
        const bool in_time = deadline_hours && planned.forecast.hours <= *deadline_hours;
        table.add({planned.accelerator.name, planned.network.name, std::to_string(planned.step.world_size),
                   with_thousands(planned.step.global_batch),
                   concat(planned.step.micro_batch_size, planned.fits.value_or(true) ? "" : ", too large"),
                   fixed(planned.time.total(), 3), fixed(planned.time.exposed(), 4), fixed(planned.rate(), 1),
                   fixed(planned.per_accelerator(), 2), fixed(100 * planned.efficiency, 1) + " %",
                   fixed(planned.forecast.hours, 1), cost_text(planned), fixed(planned.forecast.failures, 2),
                   concat(planned.forecast.save_every_steps, " steps"),
                   !deadline_hours ? ""
                   : in_time       ? "in time"
                                   : "too late"});
    }
    return table.text();
}

std::string plan_assumptions(const std::vector<ForecastRow>& plan) {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& line) {
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    };
    for (const ForecastRow& planned : plan) {
        const Accelerator& accelerator = planned.accelerator;
        const std::string price = accelerator.price_per_hour > 0 ? concat(accelerator.price_per_hour, " ", accelerator.currency,
                                                                          " an hour each (", accelerator.price_source, ")")
                                                                 : "of unknown price";
        const std::string memory = accelerator.memory_gib > 0 ? concat(accelerator.memory_gib, " GiB, ") : "";
        add(concat(accelerator.name, accelerator.runs_here ? "" : " (for comparison: this program does not run on it)",
                   ": nodes of ", accelerator.per_node, " with ", memory, accelerator.sustained_tflops, " TFLOP/s sustained, ",
                   price, " (", accelerator.source, ")", program_text(accelerator)));
        add(concat(planned.network.name, ": ", planned.network.node_gbps, " GB/s out of a node of ", accelerator.per_node, ", ",
                   planned.network.local_gbps, " inside, ", planned.network.latency_us, " us per doubling (",
                   planned.network.source, ")"));
    }
    return join(lines, "\n") + "\n";
}

nlohmann::ordered_json plan_json(const ForecastRow& planned) {
    nlohmann::ordered_json line{
        {"accelerator", planned.accelerator.name},
        {"network", planned.network.name},
        {"ranks", planned.step.world_size},
        {"global_batch", planned.step.global_batch},
        {"sequences_per_pass", planned.step.micro_batch_size},
        {"step_seconds", planned.time.total()},
        {"computing_seconds", planned.time.computing},
        {"slowed_seconds", planned.time.slowed},
        {"optimizer_seconds", planned.time.optimizer},
        {"communication_seconds", planned.time.communication},
        {"exposed_seconds", planned.time.exposed()},
        {"sequences_per_second", planned.rate()},
        {"efficiency", planned.efficiency},
        {"hours", planned.forecast.hours},
        {"failures", planned.forecast.failures},
        {"currency", planned.accelerator.currency},
        {"runs_here", planned.accelerator.runs_here},
        {"assumed", planned.accelerator.price_source.empty()
                        ? planned.accelerator.source
                        : concat(planned.accelerator.source, "; price: ", planned.accelerator.price_source)},
        {"save_every_steps", planned.forecast.save_every_steps},
        {"save_delay_seconds", planned.save_seconds}};
    if (planned.fits) line["fits"] = *planned.fits;
    line["cost"] = planned.forecast.cost ? nlohmann::ordered_json(*planned.forecast.cost) : nlohmann::ordered_json();
    return line;
}

}  // namespace bertpretrain
