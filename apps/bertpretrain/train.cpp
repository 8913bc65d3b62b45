// bertpretrain train CONFIG

#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "rank_options.h"

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/output/guard.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/thread_traces.h"
#include "model/tensor_memory.h"
#include "parallel/together.h"
#include "plan/training_phases.h"
#include "telemetry/loss_picture.h"
#include "telemetry/metrics_file.h"
#include "telemetry/trace.h"
#include "train/make_trainer.h"
#include "train/records/run_folder.h"
#include "train/start/choose_phase.h"
#include "train/start/later_phases.h"
#include "train/stop/exit_record.h"
#include "train/stop/hung_run.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

constexpr double seconds_to_report = 600;  // reads a line per step

struct TrainArguments {
    std::string config;
    std::string output;
    std::string resume = "auto", metrics_address, deadline, budget;
    std::optional<double> price;
    std::int64_t local_ranks = 0, max_restarts = 0, profile = 0;
    std::vector<std::string> overrides;
};

/// Prints the results of a finished run to standard output.
/// @param complete the number of its steps if it is done, in words
void report(const fs::path& folder, const std::string& complete, const std::optional<double>& unigram) {
    std::optional<fs::path> newest;
    try {
        newest = CheckpointStore(folder / "checkpoints").newest_complete();
    } catch (const CheckpointError& error) { log_warning(error.what()); }  // the run is complete all the same
    std::cout << loss_table(read_losses(folder / "metrics.jsonl"));
    if (unigram) std::cout << "unigram cross-entropy of the training shards: " << fixed(*unigram, 4) << "\n";
    if (!complete.empty()) std::cout << "complete: " << complete << "\n";
    if (newest) std::cout << "checkpoint: " << displayable((*newest / "model.pt").string()) << "\n";
    std::cout << "loss picture: " << displayable((folder / "loss.svg").string()) << "\n"
              << "run folder: " << displayable(folder.string()) << std::endl;
}

/// Ends a start that hangs, for example on a disk that stops answering, and the end of a phase before it.
struct StartWatch {
    StartWatch(const WatchdogConfig& limits, const fs::path& record, const Launch& launch)
        : watchdog(limits, clock, [record, launch](const std::string& what) { end_hung_run(record, launch, what); }) {
        prepare_thread_traces();
        clock.enter(Phase::start);
    }

    PhaseClock clock;
    Watchdog watchdog;
};

/// Runs `body`. If it throws, records the cause in the run's exit.json, limits the time that the process may take to end, and
/// rethrows.
void recorded(const Launch& launch, const fs::path& record, const std::function<void()>& body) {
    static bool has_cause = false;  // the same exception may pass here twice
    const auto note = [&](int code, const std::string& cause, const std::vector<SuspectRank>& suspects = {}) {
        if (std::exchange(has_cause, true)) return;
        limit_leaving(seconds_to_leave, code, cause);
        record_exit(record, launch, code, cause, suspects);
    };
    try {
        with_bad_alloc(body);
    } catch (const HardwareError& error) {
        note(static_cast<int>(error.code()), error.what(), error.suspects);
        throw;
    } catch (const Error& error) {
        note(static_cast<int>(error.code()), error.what());
        throw;
    } catch (const std::exception& error) {
        const std::optional<Error> known = known_error(error);
        note(static_cast<int>(known ? known->code() : ExitCode::bug), known ? known->what() : error.what());
        throw;
    }
}

/// Trainer::run(). A rank that was asked to stop and has saved ignores a DistributedError: the other ranks may have left first.
int run_or_stop(Trainer& trainer, const StopRequest& requests) {
    try {
        return trainer.run();
    } catch (const DistributedError& error) {
        const StopReason reason = requests.reason();
        if (reason.kind != StopReason::Kind::signal || !trainer.is_saved()) throw;
        log_error(concat(error.what(), "\n  (the other ranks got the stop signal too and may have left first)"));
        return reason.signal;
    }
}

struct Options {
    ResumeRequest resume;
    std::string metrics_address;
    RunLimits limits;
};

/// The ranks, connected once for all phases.
struct Connection {
    at::Device device;
    std::unique_ptr<World> world;
};

/// How training in a folder ended.
struct Ending {
    int signal = 0;
    std::optional<std::string> limit;  ///< on rank 0
};

/// Trains one phase, or a run without phases. @param is_last whether the process ends after it
Ending train_in(const TrainingPhase& phase, const fs::path& record, const Options& options, const Launch& launch,
                Connection& connection, std::optional<StartWatch>& start, bool is_last, StopRequest& requests) {
    TrainerParts parts = make_trainer_parts(phase.experiment, phase.folder, options.resume, launch, start->clock,
                                            std::move(connection.world), connection.device);
    parts.exit_record = record;
    parts.is_last_phase = is_last;
    parts.metrics_address = options.metrics_address;
    parts.limits = options.limits;
    const std::optional<double> unigram = parts.plan.data.unigram_cross_entropy;
    const std::int64_t total_steps = parts.plan.settings.schedule.total_steps;
    Trainer trainer(std::move(parts), requests);
    start.reset();  // from here on the trainer's own watchdog runs
    Ending ending;
    // Records an exception before the trainer is destroyed, which can hang.
    recorded(launch, record, [&] { ending.signal = run_or_stop(trainer, requests); });
    ending.limit = trainer.stopped_at_limit();
    if (is_last || ending.signal != 0 || ending.limit) {
        const int code = ending.signal == 0 ? 0 : 128 + ending.signal;
        const std::string cause = ending.limit         ? concat("stopped by its limit: ", *ending.limit)
                                  : ending.signal == 0 ? "the run is done"
                                                       : concat("stopped by signal ", ending.signal);
        const bool reports = launch.rank == 0 && ending.signal == 0;
        limit_leaving(reports ? seconds_to_report + seconds_to_leave : seconds_to_leave, code, cause);
        if (launch.rank == 0 && code != 0) record_exit(record, launch, code, cause);
        else if (launch.rank == 0 && ending.limit) record_exit(record, launch, 0, cause);
    } else {
        start.emplace(phase.experiment.settings.watchdog, record, launch);  // the trainer's watchdog has no limit any more
    }
    if (launch.rank == 0 && ending.signal == 0)
        report(phase.folder,
               ending.limit || !phase.name.empty() ? ""
               : trainer.step() < total_steps ? concat("schedule.stop_at was reached at step ", with_thousands(trainer.step()),
                                                       " of ", with_thousands(total_steps), "; to train on, change it")
                                              : concat(trainer.step() > total_steps ? "" : "all ", with_thousands(trainer.step()),
                                                       " steps; to train on, raise schedule.total_steps"),
               unigram);
    connection.world = trainer.release_world();
    return ending;
}

/// Holds the folder of a run with phases until the process ends; each phase's trainer holds the phase's folder as well. Removes
/// the exit record of an earlier attempt, which has been handled already. @returns nullptr for a run without phases
std::unique_ptr<RunFolder> hold_run(World& world, const std::vector<TrainingPhase>& phases, const fs::path& folder,
                                    const fs::path& record) {
    if (phases.front().name.empty()) return nullptr;
    std::unique_ptr<RunFolder> run = open_run_folder(world, folder).folder;
    std::error_code ignored;
    if (world.rank() == 0) fs::remove(record, ignored);
    return run;
}

/// After a phase, agrees whether the run stops before the next one starts: by rank 0's limit, or a signal to any rank. All ranks
/// call it together. @returns the run's exit code if it stops
std::optional<int> stopped_between_phases(World& world, const Launch& launch, const fs::path& record, const Ending& ending,
                                          StopRequest& requests) {
    requests.begin_startup();  // first: a later signal ends the process, an earlier one is seen below
    const StopReason own = ending.limit ? StopReason{StopReason::Kind::limit} : requests.reason();
    StopReason agreed = own;
    try {
        agreed = StopReason::of_code(world.agree_on_largest(own.code()));
    } catch (const DistributedError&) {
        if (own.kind != StopReason::Kind::signal) throw;  // else the other ranks got it too, and have left
    }
    if (agreed.kind == StopReason::Kind::limit) return 0;
    if (!agreed) return std::nullopt;
    const int code = 128 + agreed.signal;
    const std::string cause = concat("stopped by signal ", agreed.signal);
    limit_leaving(seconds_to_leave, code, cause);
    if (launch.rank != 0) return code;
    log_warning(concat(cause, " before the next phase; the same command goes on with it"));
    record_exit(record, launch, code, cause);
    return code;
}

/// Logs which phase begins.
void announce(const std::vector<TrainingPhase>& phases, std::size_t number) {
    log_info(concat(title_of(phases[number]), " (", number + 1, " of ", phases.size(), "): ", phases[number].folder.string()));
}

/// Trains all phases that are left. @returns the run's exit code
int train_as(const Launch& launch, const std::vector<TrainingPhase>& phases, const fs::path& folder, Options options,
             StopRequest& requests) {
    const fs::path record = RunPaths(folder).exit_record();
    const RequestedExperiment& any = phases.front().experiment;
    // The ranks connect before the plan exists, and the connection needs the device: resolve() decides it by the same rule.
    Connection connection{device_of_rank(any, launch), nullptr};
    std::unique_ptr<RunFolder> run;
    std::optional<StartWatch> start;
    for (std::size_t next = 0;; ++next) {
        start.emplace(phases[next].experiment.settings.watchdog, record, launch);
        if (!connection.world) {
            connection.world = connect_ranks(any, launch, connection.device);
            run = hold_run(*connection.world, phases, folder, record);
            next = choose_phase(*connection.world, phases, folder, options.resume);
            together(*connection.world, [&] {
                if (launch.rank == 0) check_later_phases(phases, next, launch);
            });
        }
        if (next > 0) options.resume = {};
        if (run) {
            together(*connection.world, [&] { run->require(); });  // or the next phase would make the folder again
            if (launch.rank == 0) announce(phases, next);
        }
        const bool is_last = next + 1 == phases.size();
        const Ending ending = train_in(phases[next], record, options, launch, connection, start, is_last, requests);
        if (ending.signal != 0) return 128 + ending.signal;
        if (is_last) return 0;
        // Rank 0 may take long for its report.
        const double seconds = phases[next + 1].experiment.settings.parallel.first_step_timeout_seconds;
        connection.world->set_timeout(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
        if (const auto code = stopped_between_phases(*connection.world, launch, record, ending, requests)) return *code;
    }
}

int train(const TrainArguments& arguments) {
    std::cout.exceptions(std::ios::goodbit);  // a closed pipe must not end a run: the folder has the results too
    const fs::path folder = run_folder(arguments.output, arguments.config);
    require_no_checkpoint(folder);
    const fs::path record = RunPaths(folder).exit_record();
    const Launch launch = read_launch();
    Options options;
    options.metrics_address = arguments.metrics_address;
    std::vector<TrainingPhase> phases;
    recorded(launch, record, [&] {
        options.limits = RunLimits::parse(arguments.deadline, arguments.budget, arguments.price);
        options.resume = ResumeRequest::parse(arguments.resume);
        options.resume.again = launch.again;
        phases = request_phases(arguments.config, arguments.overrides, folder);
    });
    const auto record_killed = [&](const KilledRank& killed, std::int64_t attempt) {
        record_killed_rank(record, killed.rank, attempt, text_of(killed));
    };
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch, arguments.max_restarts, record_killed)) return *code;
    constexpr std::int64_t warm_up = 2;  // the second step still allocates memory
    const Trace trace(folder / concat("trace_rank_", launch.rank, ".json"), launch.rank, warm_up, arguments.profile);
    int exit_code = 0;
    recorded(launch, record, [&] {
        StopRequest requests;
        refuse_hopeless_restart(record, launch);
        exit_code = train_as(launch, phases, folder, options, requests);
    });
    return exit_code;
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<TrainArguments>();
    CLI::App* command = app.add_subcommand("train", "Trains the model of an experiment file, or resumes its training");
    command->add_option("config", arguments->config, "The experiment file (JSON)")->required();
    command->add_option("--output", arguments->output, "The run's folder. Default: runs/NAME for an experiment NAME.json");
    command
        ->add_option(
            "--resume", arguments->resume,
            "Where to resume. auto: at the newest complete checkpoint, if there is one. never: start a new run. A number: "
            "at the checkpoint of that step")
        ->capture_default_str();
    add_local_ranks_option(*command, arguments->local_ranks);
    command
        ->add_option(
            "--max-restarts", arguments->max_restarts,
            "With --local-ranks: start the ranks again, at most this many times, when one is lost, killed or crashes. They "
            "resume from the newest checkpoint")
        ->needs("--local-ranks")
        ->check(CLI::NonNegativeNumber);
    command
        ->add_option("--profile", arguments->profile,
                     "Write a Chrome trace of this many steps for each rank, beginning with the third step")
        ->check(CLI::NonNegativeNumber);
    command->add_option("--metrics-address", arguments->metrics_address,
                        "Serve rank 0's current metrics to Prometheus at ADDRESS:PORT, or at PORT of 127.0.0.1. Port 0: any free "
                        "port, which is logged. There is no password. Not given: serve no metrics");
    command->add_option("--deadline", arguments->deadline,
                        "The time that the whole run may take, such as 20h, 90m or 3d. It counts all starts, without pauses "
                        "between them. The run saves and stops before it takes longer; the exit code is 0");
    command->add_option("--budget", arguments->budget,
                        "The money that the whole run may cost, such as 500USD; needs --price. The run saves and stops before it "
                        "costs more; the exit code is 0");
    command
        ->add_option("--price", arguments->price,
                     "Price of an accelerator (a rank) per hour: forecast the run's cost at each evaluation")
        ->check(CLI::PositiveNumber);
    add_set_option(*command, arguments->overrides);
    command->callback([arguments, &exit_code] { exit_code = train(*arguments); });
}

}  // namespace bertpretrain
