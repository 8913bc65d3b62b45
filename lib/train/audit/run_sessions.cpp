#include "train/audit/run_sessions.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>

#include <ATen/Parallel.h>
#include <torch/version.h>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_store.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "core/files/sha256.h"
#include "core/program_version.h"
#include "kernels/cpu/instruction_set.h"
#include "telemetry/events_file.h"

namespace bertpretrain {
namespace {

/// Settings, and sections ending in ".", that do not change the numbers of a step.
constexpr std::array without_effect{"about",
                                    "checkpoint.",
                                    "data.cache_folder",
                                    "data.cache_gib",
                                    "data.changed_weights",  // the checkpoints have the shares of all steps
                                    "data.held_out_shards",
                                    "data.loader_threads",
                                    "data.training_shards",  // compared by the fingerprint of the data
                                    "data.vocabulary",
                                    "evaluation.",
                                    "optimizer.learning_rate",  // each session's own is used
                                    "parallel.first_step_timeout_seconds",
                                    "parallel.straggler_report_steps",
                                    "parallel.timeout_seconds",
                                    "parallel.zero_stage",
                                    "schedule.total_steps",
                                    "telemetry.",
                                    "training.cross_check_every_steps",
                                    "training.loss_spike_deviations",
                                    "training.max_skipped_updates",
                                    "watchdog."};

bool has_effect(const std::string& path) {
    return std::none_of(without_effect.begin(), without_effect.end(),
                        [&](std::string_view name) { return name.ends_with('.') ? path.starts_with(name) : path == name; });
}

/// The settings in the run's files, by digest. Files that cannot be read are left out.
std::map<std::string, ExperimentConfig> settings_in(const RunPaths& run) {
    std::vector<std::filesystem::path> files{run.settings()};
    for (const auto& [step, folder] : CheckpointStore(run.checkpoints()).all()) files.push_back(folder / settings_file);
    std::map<std::string, ExperimentConfig> found;
    for (const std::filesystem::path& file : files) try {
            const nlohmann::json json = read_json(file);
            found.emplace(settings_digest(json), read_config<ExperimentConfig>(json, file.string()));
        } catch (const Error&) {
            if (file == run.settings()) throw;
        }
    return found;
}

bool compute_the_same(const std::map<std::string, ExperimentConfig>& found) {
    const ExperimentConfig& first = found.begin()->second;
    return std::all_of(found.begin(), found.end(), [&](const auto& one) {
        const ExperimentConfig& other = one.second;
        return settings_that_change_bits(first, other).empty() && first.schedule.total_steps == other.schedule.total_steps &&
               first.optimizer.learning_rate == other.optimizer.learning_rate;
    });
}

}  // namespace

std::string kernels_on(at::Device device) {
    return device.is_cpu() ? std::string(cpu::name_of(cpu::instruction_set())) : c10::DeviceTypeName(device.type(), true);
}

std::string computed_by(at::Device device) {
    if (!device.is_cpu()) return {};
    const ProgramVersion& program = program_version();
    // A library's fp32 matmul may divide its sums by the number of threads.
    return concat(kernels_on(device), " on ", processor_name(), ", ", at::get_num_threads(), " threads, libtorch ", TORCH_VERSION,
                  ", ", program.version, " (", program.commit, ")");
}

std::string sums_of(const RunPlan& plan, const NodeRoute& route) {
    const bool rounds = plan.parallel.world_size > 1 && plan.parallel.reduce_dtype == at::kBFloat16;
    if (route.nodes() == 1) return rounds ? "bf16" : "";
    return concat(rounds ? "bf16" : "fp32", " over ", route.text());
}

std::string settings_digest(const nlohmann::json& settings) { return hexadecimal(sha256(settings.dump())); }

std::vector<std::string> settings_that_change_bits(const ExperimentConfig& a, const ExperimentConfig& b) {
    std::vector<std::string> paths;
    for (const Difference& difference : compare_configs(a, b))
        if (has_effect(difference.path)) paths.push_back(difference.path);
    return paths;
}

RunSessions::RunSessions(const RunPaths& run) : folder_(run.folder()) {
    const std::map<std::string, ExperimentConfig> found = settings_in(run);
    for (const RunEvent& event : read_events(run.events())) {
        if (event.name != "start" && event.name != "resume") continue;
        RunSession session{event.step, event.ranks, event.computed_by, {}, true, event.sums};
        if (event.settings.empty()) {
            session.knows_settings = compute_the_same(found);
            session.settings = found.begin()->second;
        } else if (const auto own = found.find(event.settings); own != found.end()) {
            session.settings = own->second;
        } else {
            session.knows_settings = false;
        }
        // A resume repeats all later steps: earlier sessions have computed only those up to it.
        while (!sessions_.empty() && sessions_.back().begin >= session.begin) sessions_.pop_back();
        sessions_.push_back(std::move(session));
    }
    if (sessions_.empty()) throw DataError(concat(run.events().string(), ": contains no start of a run"));
}

const RunSession& RunSessions::of_step(std::int64_t step) const {
    auto session = std::find_if(sessions_.rbegin(), sessions_.rend(), [&](const RunSession& one) { return one.begin < step; });
    if (session == sessions_.rend()) --session;
    if (!session->knows_settings)
        throw ConfigError(concat(folder_.string(), ": the settings of step ", step,
                                 " are not known: the session that began at step ", session->begin,
                                 " had settings that are neither in settings.json nor in a kept checkpoint",
                                 "\n  do: audit other steps with --steps"));
    return *session;
}

}  // namespace bertpretrain
