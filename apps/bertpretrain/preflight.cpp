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

#include "batches/shard_samples.h"
#include "core/error.h"
#include "core/log.h"
#include "core/median.h"
#include "core/strings.h"
#include "core/table.h"
#include "kernels/kernels_in_use.h"
#include "model/bert_parameters.h"
#include "operations/collective_table.h"
#include "operations/device.h"
#include "operations/device_check.h"
#include "operations/findings.h"
#include "operations/machine_memory.h"
#include "operations/transport.h"
#include "parallel/make_world.h"
#include "plan/memory_plan.h"
#include "plan/resolve.h"
#include "shards/manifest.h"
#include "telemetry/nvml.h"
#include "train/checkpoint_space.h"
#include "train/dry_run.h"
#include "train/kernel_choice.h"
#include "train/snapshot.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct PreflightArguments {
    std::string config, output, require_transport;
    std::vector<std::string> overrides;
    std::int64_t local_ranks = 0, repetitions = 20, steps = 5;
    std::optional<std::string> max_bytes;
    double slow = 0.7;
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

/// The checks of one rank.
class Preflight {
public:
    Preflight(const PreflightArguments& arguments, const RequestedExperiment& experiment, const Launch& launch)
        : arguments_(arguments),
          experiment_(experiment),
          machine_(look_at_machine()),
          plan_(resolve(experiment, launch, machine_, {}, nullptr)),  // check_files() adds what the shards tell
          launch_(launch),
          output_(arguments.output.empty() ? fs::path("runs") / fs::path(arguments.config).stem() : fs::path(arguments.output)),
          device_(open_device(plan_.compute.on_gpu, launch.local_rank)),
          world_(make_world(launch, std::chrono::seconds(static_cast<std::int64_t>(plan_.parallel.first_step_timeout_seconds)),
                            device_)),
          findings_(*world_) {}

    /// @returns the exit code
    int run() {
        check_devices();
        check_files();
        if (world_->size() > 1) check_network();
        StopRequest requests;
        if (findings_.exit_code() == ExitCode::done) try_run(requests);
        else if (leads()) log_warning("skipping the dry run, because an earlier check failed");
        if (run_ && run_->stopped_by != 0) return 128 + run_->stopped_by;
        if (leads()) std::cout << (arguments_.json ? json() : text()) << std::flush;
        return static_cast<int>(findings_.exit_code());
    }

private:
    bool leads() const { return launch_.rank == 0; }
    void say(const std::string& what) const {
        if (leads()) log_info(what);
    }

    void check_devices() {
        say(concat("device: ", device_.str(), ", each operation ", arguments_.repetitions, " times"));
        findings_.examine("device", [&] {
            operations_ = check_device(device_, arguments_.repetitions);
            std::vector<std::string> wrong;
            for (const CheckedOperation& operation : operations_)
                if (operation.wrong > 0)
                    wrong.push_back(concat(operation.name, ": ", operation.wrong, " of ", operation.repetitions, " wrong; ",
                                           operation.first_wrong));
            if (!wrong.empty())
                throw NumbersError(
                    concat("this device computes wrong results:\n  ", join(wrong, "\n  "), "\n  do: take this host out"));
            return concat(operations_.size(), " operations, each ", arguments_.repetitions, " times, all correct");
        });
        if (!device_.is_cpu()) check_gpu();
        check_kernels();
        compare_rates();
    }

    void check_gpu() {
        findings_.examine("gpu", [&]() -> std::string {
            const std::optional<GpuHealth> health = gpu_health(device_.index());
            if (!health) return "not checked: NVIDIA's management library (NVML) was not found";
            if (health->uncorrected_errors.value_or(0) > 0)
                throw NumbersError(concat(health->text(), "\n  do: take this host out, or reset the GPU"));
            return health->text();
        });
    }

    /// A wrong kernel does not stop a run: plain ATen computes instead, which takes longer.
    void check_kernels() {
        const std::vector<KernelSet> sets = available_kernels(device_);
        if (sets.empty()) return;
        say("kernels: comparing each with plain ATen on the same device");
        findings_.examine("kernels", [&] {
            proof_ = prove_kernels(device_, sets, {proof_shape(plan_), true, {}});
            std::string found = summary_of(proof_);
            for (const ProofRow& row : proof_.rows)
                if (row.verdict != Verdict::correct)
                    found += concat("\n", row.operation, " by \"", row.kernels, "\" ", complaint_of(row));
            return found;
        });
    }

    /// Finds ranks that are slower than the others in an operation.
    void compare_rates() {
        if (operations_.empty()) operations_.resize(1);
        std::vector<double> own;
        for (const CheckedOperation& operation : operations_) own.push_back(operation.rate);
        const auto count = static_cast<std::int64_t>(own.size());
        if (world_->agree_on_largest(count) != -world_->agree_on_largest(-count))
            return;  // a check failed on some rank, and is reported
        const std::vector<double> all = world_->all_gather(std::span<const double>(own));
        const auto ranks = static_cast<std::size_t>(world_->size());
        for (std::size_t i = 0; i < own.size(); ++i) {
            std::vector<double> rates;
            for (std::size_t r = 0; r < ranks; ++r) rates.push_back(all[r * own.size() + i]);
            rates_.push_back(rates);
            for (const std::size_t slow : slow_ranks(rates, arguments_.slow)) {
                const auto rank = static_cast<std::int64_t>(slow);
                findings_.add(
                    {"speed", rank, findings_.host(rank), ExitCode::distributed,
                     concat(operations_[i].name, ": ", fixed(rates[slow], 3), " ", operations_[i].unit, ", less than ",
                            arguments_.slow, " of the ranks' median ", fixed(median(rates), 3),
                            "\n  do: check what else runs on that host; in every step all ranks wait for the slowest")});
            }
        }
    }

    void check_files() {
        findings_.examine("shards", [&] {
            const ExperimentConfig& settings = experiment_.settings;
            plan_ = resolve(experiment_, launch_, machine_, look_at_data(settings.data, settings.evaluation.every_steps > 0),
                            nullptr);
            const DataPlan& data = plan_.data;
            std::vector<fs::path> files = find_shards(data.training_shards, ShardKind::training);
            if (plan_.evaluation.every_steps > 0)
                for (const fs::path& file : find_shards(data.held_out_shards, ShardKind::held_out)) files.push_back(file);
            const SampledShards sampled =
                sample_shards(files, {data.sequence_length, plan_.model.max_position_embeddings, plan_.model.vocab_size},
                              launch_.rank, launch_.world_size, data.loader_threads);
            return concat(sampled.files, " of ", files.size(), " files sampled, ", with_thousands(sampled.rows), " rows read");
        });
        findings_.examine("memory", [&] { return memory(); });
        findings_.examine_on_first("disk", [&] {
            const fs::path whole = fs::absolute(output_ / "").parent_path();
            return require_space(whole / "checkpoints", checkpoint_bytes(plan_.model), plan_.checkpoint);
        });
    }

    std::string memory() const {
        const ParameterLayout layout = bert_layout(plan_.model, plan_.parallel.bucket_mib, world_->size());
        const MemoryPlan plan = plan_memory(plan_, layout);
        const std::int64_t here = launch_.local_world_size;
        if (device_.is_cpu()) return room_for(plan, "", plan.peak(), here, available_host_memory());
        return concat(room_for(plan, "GPU: ", plan.on_gpu(), 1, available_memory(device_)),
                      room_for(plan, "; host: ", plan.beside_gpu(), here, available_host_memory()));
    }

    static std::string room_for(const MemoryPlan& plan, const char* where, std::uint64_t of_rank, std::int64_t ranks,
                                std::uint64_t available) {
        const std::uint64_t needed = of_rank * static_cast<std::uint64_t>(ranks);
        const std::string words =
            concat(where, bytes_text(needed), " expected at the peak", ranks > 1 ? concat(" of ", ranks, " ranks") : "", ", ",
                   bytes_text(available), " available");
        if (needed > available)
            throw ConfigError(concat(words, " (of one rank: ", plan.text(), ")\n  do: use a smaller batch.micro_batch_size, ",
                                     "training.activation_checkpointing, parallel.zero_stage 1, or more ranks"));
        return words;
    }

    void check_network() {
        const std::int64_t most = bytes_of(arguments_.max_bytes.value_or(device_.is_cpu() ? "64M" : "1G"));
        say(concat("collectives up to ", bytes_text(static_cast<std::uint64_t>(most)), " among ", world_->size(), " ranks"));
        tables_ = measure_collectives(*world_, device_, {.to = most});
        findings_.examine_on_first("collectives", [&] {
            std::vector<std::string> averages;
            for (const CollectiveTable& table : tables_) {
                if (table.wrong() > 0)
                    throw NumbersError(
                        concat(table.name, ": ", table.wrong(), " elements wrong\n  do: see the table for the size"));
                averages.push_back(concat(table.name, " ", fixed(table.average_bus_gbps(), 3)));
            }
            return concat("all correct; average bus bandwidth in GB/s: ", join(averages));
        });
        findings_.examine("transport", [&] {
            const Transport transport = find_transport(device_, !launch_.on_one_host());
            const std::string& required = arguments_.require_transport;
            if (!required.empty() && transport.name != required && !launch_.on_one_host())
                throw DistributedError(
                    concat("tensors travel by ", transport.text(), ", but --require-transport asks for ", required,
                           "\n  do: check that this host's container has the network plug-in and the adapters"));
            return transport.text();
        });
    }

    void try_run(StopRequest& requests) {
        say(concat("dry run of ", arguments_.steps, " steps"));
        const auto add = [&](ExitCode code, const std::string& detail) {
            findings_.add({"dry run", 0, findings_.host(0), code == ExitCode::done ? std::nullopt : std::optional(code), detail});
        };
        try {
            run_ = dry_run(experiment_, output_, arguments_.steps, launch_, std::move(world_), device_, requests);
            add(ExitCode::done, run_text());
        } catch (const Error& error) { add(error.code(), error.what()); }
    }

    std::string run_text() const {
        return concat(
            run_->steps, " steps of ", fixed(run_->step_seconds, 3), " s, ", fixed(run_->sequences_per_second, 1),
            " sequences/s, ", fixed(100 * run_->data_wait_share, 1), " % of the time waiting for data; ",
            plan_.evaluation.every_steps > 0 ? concat("held-out MLM loss ", fixed(run_->held_out_mlm_loss, 4), "; ") : "",
            "checkpoint of ", bytes_text(run_->checkpoint_bytes), " written and read back at ", fixed(run_->read_gbps, 2),
            " GB/s");
    }

    /// A row per operation: the slowest rank, the median and the fastest rank.
    std::string rates_text() const {
        Table table({"operation", "unit", "slowest", "of rank", "on host", "median", "fastest"});
        for (std::size_t i = 0; i < rates_.size(); ++i) {
            const auto slowest = std::min_element(rates_[i].begin(), rates_[i].end());
            const std::int64_t rank = slowest - rates_[i].begin();
            table.add({operations_[i].name, operations_[i].unit, fixed(*slowest, 3), std::to_string(rank), findings_.host(rank),
                       fixed(median(rates_[i]), 3), fixed(*std::max_element(rates_[i].begin(), rates_[i].end()), 3)});
        }
        return table.text();
    }

    std::string text() const {
        const bool well = findings_.exit_code() == ExitCode::done;
        return concat(rates_text(), "\n", proof_.rows.empty() ? "" : proof_table(proof_.rows) + "\n", nccl_tests_text(tables_),
                      "\n", findings_.text(), "preflight: ",
                      well ? "ready to train" : concat("not ready (exit code ", static_cast<int>(findings_.exit_code()), ")"),
                      "\n");
    }

    std::string json() const {
        nlohmann::ordered_json out = {{"exit_code", static_cast<int>(findings_.exit_code())}, {"ranks", launch_.world_size}};
        for (const Finding& finding : findings_.all()) out["findings"].push_back(json_of(finding));
        for (std::size_t i = 0; i < rates_.size(); ++i)
            out["operations"].push_back(
                {{"name", operations_[i].name}, {"unit", operations_[i].unit}, {"rate_of_rank", rates_[i]}});
        if (!proof_.rows.empty()) out["kernels"] = json_of(proof_.rows);
        for (const CollectiveTable& table : tables_) out["collectives"].push_back(json_of(table));
        if (run_)
            out["dry_run"] = {{"steps", run_->steps},
                              {"step_seconds", run_->step_seconds},
                              {"sequences_per_second", run_->sequences_per_second},
                              {"data_wait_share", run_->data_wait_share},
                              {"held_out_mlm_loss", run_->held_out_mlm_loss},
                              {"checkpoint_bytes", run_->checkpoint_bytes}};
        return out.dump(2) + "\n";
    }

    const PreflightArguments& arguments_;
    const RequestedExperiment& experiment_;
    MachineFacts machine_;
    RunPlan plan_;
    Launch launch_;
    fs::path output_;
    at::Device device_;
    std::unique_ptr<World> world_;
    Findings findings_;
    std::vector<CheckedOperation> operations_;
    std::vector<std::vector<double>> rates_;  ///< by operation and rank
    Proof proof_;                             ///< of this rank's kernels
    std::vector<CollectiveTable> tables_;
    std::optional<DryRun> run_;
};

int preflight(const PreflightArguments& arguments) {
    const RequestedExperiment experiment = request_experiment(arguments.config, arguments.overrides);
    const Launch launch = read_launch();
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch)) return *code;
    if (arguments.max_bytes) bytes_of(*arguments.max_bytes);
    return Preflight(arguments, experiment, launch).run();
}

}  // namespace

void add_preflight_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<PreflightArguments>();
    CLI::App* command = app.add_subcommand("preflight", "Checks machines, network and files before a long job");
    command->add_option("config", arguments->config, "The experiment file (JSON)")->required();
    command->add_option("--output", arguments->output,
                        "The run's folder, whose disk is checked. Default: runs/NAME for an experiment NAME.json");
    add_local_ranks_option(*command, arguments->local_ranks);
    add_set_option(*command, arguments->overrides);
    command->add_option("--repetitions", arguments->repetitions, "How often to run each tensor operation")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    command->add_option("--max-bytes", arguments->max_bytes,
                        "Largest tensor of the collectives, such as 1G. Default: 64M on CPUs, 1G on GPUs");
    command->add_option("--steps", arguments->steps, "Steps of the dry run")->check(CLI::Range(2, 1000))->capture_default_str();
    command->add_option("--slow", arguments->slow, "Report a rank as slow below this share of the ranks' median")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command
        ->add_option("--require-transport", arguments->require_transport,
                     "Fail unless tensors travel between hosts by this transport")
        ->check(CLI::IsMember({"efa", "infiniband", "sockets"}));
    command->add_flag("--json", arguments->json, "Print everything as one JSON object");
    command->callback([arguments, &exit_code] { exit_code = preflight(*arguments); });
}

}  // namespace bertpretrain
