#include "train/start/same_run.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

/// The settings in which the ranks of a run may differ.
constexpr std::string_view may_differ[] = {
    "about",                          // a description for people
    "data.training_shards",           // a path; refuse_different_data() compares the content
    "data.held_out_shards",           // the same
    "data.vocabulary",                // a path; resolve() compares its content with the shards' manifest
    "data.loader_threads",            // half of the host's cores; the order of samples does not depend on it
    "data.cache_folder",              // each host has its own
    "data.cache_gib",                 // the same; the order of samples does not depend on it
    "evaluation.probe",               // a path; refuse_different_data() compares the content
    "training.device",                // hosts find their own GPUs; what depends on the device is compared
    "training.cpu_matmul",            // rank 0 decides
    "training.gpu_kernels",           // all ranks take the kernels that are correct on all of them
    "checkpoint.after_save",          // only rank 0 runs the command
    "checkpoint.after_save_seconds",  // the same
    "checkpoint.mirror",              // only rank 0 uses it
    "telemetry.command",              // only rank 0 runs the command
    // Each host handles its own failures.
    "environment.TORCH_NCCL_ASYNC_ERROR_HANDLING",
    "environment.TORCH_NCCL_DUMP_ON_TIMEOUT",
    "environment.TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC",
};

/// Returns what must be equal: the value, except that initial weights may lie at different paths.
nlohmann::ordered_json compared(const PlannedValue& value) {
    if (value.path == "initialization.init_from" && !value.value.is_null()) return "given";
    return value.value;
}

/// {setting: [what is compared, the value in words, its origin in words]}
nlohmann::ordered_json values_of(const RunPlan& plan) {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const PlannedValue& value : plan.values())
        if (std::find(std::begin(may_differ), std::end(may_differ), value.path) == std::end(may_differ))
            values[value.path] = {
                compared(value),
                value.value.is_null() && value.origin == Origin::automatic ? "to be measured" : value.value.dump(),
                concat(" (", name_of(value.origin), value.reason.empty() ? "" : ": ", value.reason, ")")};
    return values;
}

/// All ranks call it together; `differences` has a line for each thing in which this rank differs from rank 0.
void refuse(ControlGroup& ranks, const std::string& differences) {
    together(ranks, [&] {
        if (!differences.empty())
            throw ConfigError(
                concat("the ranks were not started for one run:", differences,
                       "\n  do: give all ranks the same settings, environment and shards (bertpretrain_data check)"));
    });
}

std::string difference(const std::string& setting, const nlohmann::ordered_json& first, const nlohmann::ordered_json& own,
                       std::int64_t rank) {
    const auto text = [](const nlohmann::ordered_json& value, std::size_t i) { return value.at(i).get<std::string>(); };
    return concat("\n  ", setting, ": ", text(first, 1), " on rank 0", text(first, 2), ", ", text(own, 1), " on rank ", rank,
                  text(own, 2));
}

}  // namespace

void refuse_different_plans(ControlGroup& ranks, const RunPlan& plan) {
    const nlohmann::ordered_json here = values_of(plan);
    const auto there = nlohmann::ordered_json::parse(ranks.text_of_first(here.dump()));
    const nlohmann::ordered_json missing = {"missing", "unknown", " (another version of this program)"};
    std::string differences;
    for (const auto& [setting, first] : there.items()) {
        const nlohmann::ordered_json& own = here.contains(setting) ? here.at(setting) : missing;
        if (own[0] != first[0]) differences += difference(setting, first, own, ranks.rank());
    }
    for (const auto& [setting, own] : here.items())
        if (!there.contains(setting)) differences += difference(setting, missing, own, ranks.rank());
    refuse(ranks, differences);
}

void refuse_different_data(ControlGroup& ranks, const std::string& fingerprints) {
    const std::string there = ranks.text_of_first(fingerprints);
    refuse(ranks,
           there == fingerprints ? "" : concat("\n  the data: ", there, " on rank 0, ", fingerprints, " on rank ", ranks.rank()));
}

}  // namespace bertpretrain
