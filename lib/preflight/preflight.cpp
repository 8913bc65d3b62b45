#include "preflight/preflight.h"

#include <chrono>
#include <memory>

#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "kernels/kernels_in_use.h"
#include "operations/device.h"
#include "operations/transport.h"
#include "parallel/make_world.h"
#include "plan/resolve.h"
#include "preflight/file_checks.h"
#include "train/start/kernel_choice.h"

namespace bertpretrain {
namespace {

/// Returns the average bandwidth of each collective. @throws NumbersError when any result was wrong
std::string judge_collectives(const std::vector<CollectiveTable>& tables) {
    std::vector<std::string> averages;
    for (const CollectiveTable& table : tables) {
        if (table.wrong() > 0)
            throw NumbersError(concat(table.name, ": ", table.wrong(), " elements wrong\n  do: see the table for the size"));
        averages.push_back(concat(table.name, " ", fixed(table.average_bus_gbps(), 3)));
    }
    return concat("all correct; average bus bandwidth in GB/s: ", join(averages));
}

/// Returns the transport that carries tensors. Call it after the ranks have exchanged tensors.
/// @param required its name, needed between hosts only; empty: any
/// @throws DistributedError when it is another one
std::string check_transport(at::Device device, const Launch& launch, const std::string& required) {
    const Transport transport = find_transport(device, !launch.on_one_host());
    if (!required.empty() && transport.name != required && !launch.on_one_host())
        throw DistributedError(concat("tensors travel by ", transport.text(), ", but --require-transport asks for ", required,
                                      "\n  do: check that this host's container has the network plug-in and the adapters"));
    return transport.text();
}

/// The checks of one rank.
class Preflight {
public:
    Preflight(const RequestedExperiment& experiment, const PreflightRequest& request, const Launch& launch)
        : experiment_(experiment),
          request_(request),
          launch_(launch),
          machine_(look_at_machine()),
          plan_(resolve(experiment, launch, machine_, {}, nullptr)),  // check_files() adds what the shards tell
          device_(open_device(plan_.compute.on_gpu, launch.local_rank)),
          world_(make_world(launch,
                            std::chrono::seconds(static_cast<std::int64_t>(plan_.settings.parallel.first_step_timeout_seconds)),
                            device_)),
          findings_(*world_) {}

    PreflightResult run() {
        check_device_of_rank();
        check_files();
        if (world_->size() > 1) check_network();
        if (exit_code_of(findings_.all()) == ExitCode::done) try_run();
        else if (launch_.rank == 0) log_warning("skipping the dry run, because an earlier check failed");
        result_.hosts = findings_.hosts();
        result_.findings = findings_.all();
        return std::move(result_);
    }

private:
    void say(const std::string& what) const {
        if (launch_.rank == 0) log_info(what);
    }

    void check_device_of_rank() {
        say(concat("device: ", device_.str(), ", each operation ", request_.repetitions, " times"));
        std::vector<CheckedOperation> operations;
        findings_.examine("device", [&] {
            operations = check_device(device_, request_.repetitions);
            return judge_operations(operations, request_.repetitions);
        });
        if (!device_.is_cpu()) findings_.examine("gpu", [&] { return judge_gpu(device_); });
        check_kernels();
        result_.rates = gather_rates(*world_, operations);
        report_slow_ranks(findings_, result_.rates, request_.slow);
    }

    void check_kernels() {
        const std::vector<KernelSet> sets = available_kernels(device_);
        if (sets.empty()) return;
        say("kernels: comparing each with plain ATen on the same device");
        findings_.examine("kernels", [&] {
            result_.proof = prove_kernels(device_, sets, {proof_shape(plan_), true, {}});
            return describe_proof(result_.proof);
        });
    }

    void check_files() {
        findings_.examine("shards", [&] {
            const ExperimentConfig& settings = experiment_.settings;
            plan_ = resolve(experiment_, launch_, machine_, look_at_data(settings.data, settings.evaluation.every_steps > 0),
                            nullptr);
            return check_shards(plan_, launch_);
        });
        findings_.examine("memory", [&] { return check_memory(plan_, launch_, device_); });
        for (const TrainingPhase& phase : request_.later_phases) {
            const ExperimentConfig& settings = phase.experiment.settings;
            RunPlan plan = plan_;
            findings_.examine(concat("shards, ", title_of(phase)), [&] {
                plan = resolve(phase.experiment, launch_, machine_,
                               look_at_data(settings.data, settings.evaluation.every_steps > 0), nullptr);
                return check_shards(plan, launch_);
            });
            findings_.examine(concat("memory, ", title_of(phase)), [&] { return check_memory(plan, launch_, device_); });
        }
        findings_.examine_on_first("disk", [&] { return check_disk(plan_, request_.run_folder); });
        if (const auto& mirror = plan_.checkpoint.mirror)
            findings_.examine_on_first("mirror", [&] { return check_mirror(*mirror); });
    }

    void check_network() {
        constexpr std::int64_t mib = std::int64_t{1} << 20;
        const std::int64_t most = request_.max_bytes.value_or(device_.is_cpu() ? 64 * mib : 1024 * mib);
        say(concat("collectives up to ", bytes_text(static_cast<std::uint64_t>(most)), " among ", world_->size(), " ranks"));
        result_.collectives = measure_collectives(*world_, device_, {.to = most});
        findings_.examine_on_first("collectives", [&] { return judge_collectives(result_.collectives); });
        findings_.examine("transport", [&] { return check_transport(device_, launch_, request_.require_transport); });
    }

    void try_run() {
        const DryRunLength& length = request_.dry_run;
        say(length.burn_in_seconds > 0 ? concat("burn-in of ", duration_text(length.burn_in_seconds))
                                       : concat("dry run of ", length.steps, " steps"));
        const auto add = [&](ExitCode code, const std::string& detail) {
            findings_.add({"dry run", 0, findings_.host(0), code == ExitCode::done ? std::nullopt : std::optional(code), detail});
        };
        try {
            StopRequest requests;
            result_.dry_run = dry_run(experiment_, request_.run_folder, length, launch_, std::move(world_), device_, requests);
            add(ExitCode::done, describe(*result_.dry_run, plan_.settings.evaluation.every_steps > 0));
        } catch (const Error& error) { add(error.code(), error.what()); }
    }

    const RequestedExperiment& experiment_;
    const PreflightRequest& request_;
    const Launch& launch_;
    MachineFacts machine_;
    RunPlan plan_;
    at::Device device_;
    std::unique_ptr<World> world_;
    Findings findings_;
    PreflightResult result_;
};

}  // namespace

PreflightResult run_preflight(const RequestedExperiment& experiment, const PreflightRequest& request, const Launch& launch) {
    if (!launch.on_one_host()) log_network_choice();
    return Preflight(experiment, request, launch).run();
}

}  // namespace bertpretrain
