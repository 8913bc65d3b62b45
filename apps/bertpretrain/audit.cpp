// bertpretrain audit RUN [--steps A:B | --samples K] [--json]

#include <iostream>
#include <memory>
#include <string>

#include "commands.h"
#include "rank_options.h"
#include "step_range.h"

#include "core/error.h"
#include "core/output/displayable.h"
#include "train/audit/replay/audit_run.h"

namespace bertpretrain {
namespace {

struct AuditArguments {
    std::string run, steps;
    std::int64_t samples = 0, local_ranks = 0;
    std::vector<std::string> overrides;
    double bound = AuditBound().loss;
    bool json = false;
};

int audit(const AuditArguments& arguments) {
    AuditRequest request;
    request.run = arguments.run;
    request.overrides = arguments.overrides;
    request.samples = arguments.samples;
    request.bound.loss = arguments.bound;
    if (!arguments.steps.empty()) request.steps = step_range(arguments.steps);
    const Launch launch = read_launch();
    if (const auto code = run_as_local_ranks(arguments.local_ranks, launch)) return *code;
    StopRequest requests;
    const std::optional<Audit> audited = audit_run(request, launch, requests);
    if (!audited) return 128 + requests.reason().signal;
    if (launch.rank == 0) std::cout << (arguments.json ? json_of(*audited) : displayable(text_of(*audited), "\n")) << std::flush;
    return static_cast<int>(audited->verdict() == AuditVerdict::different ? ExitCode::numbers : ExitCode::done);
}

}  // namespace

void add_audit_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<AuditArguments>();
    CLI::App* command = app.add_subcommand(
        "audit", "Computes steps of a run again and compares them with its metrics and checkpoints; exit code 6 if any differs");
    command->add_option("run", arguments->run, "The run's folder, in which nothing is written")->required();
    CLI::Option* steps = command->add_option("--steps", arguments->steps,
                                             "The steps to audit, as FIRST:LAST. Default: all steps in the run's metrics.jsonl");
    command
        ->add_option("--samples", arguments->samples,
                     "Audit this many stretches of 10 steps, at random places; overlapping ones are joined")
        ->check(CLI::Range(1, 1'000'000))
        ->excludes(steps);
    command
        ->add_option("--bound", arguments->bound,
                     "Where the run had other kernels, another processor or version, or another number of ranks: the largest "
                     "relative difference of a step's loss; ten times as much for gradient norms, a hundred times for tensors")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    add_local_ranks_option(*command, arguments->local_ranks);
    add_set_option(*command, arguments->overrides);
    command->add_flag("--json", arguments->json, "Print everything as one JSON object, with a verdict for each step");
    command->callback([arguments, &exit_code] { exit_code = audit(*arguments); });
}

}  // namespace bertpretrain
