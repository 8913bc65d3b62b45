#include "reports/run_history.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/median.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

class NoStepYet : public DataError {
public:
    using DataError::DataError;
};

std::int64_t total_steps_of(const std::filesystem::path& settings) {
    try {
        const auto steps = nlohmann::json::parse(read_file(settings)).at("schedule").at("total_steps").get<std::int64_t>();
        return std::max<std::int64_t>(0, steps);
    } catch (const std::exception&) { return 0; }  // 0: unknown
}

/// The starts of a run whose steps count, by the steps after which they began, with the rows that each measures.
std::map<std::int64_t, std::string> held_out_rows(const std::vector<RunEvent>& events) {
    std::map<std::int64_t, std::string> starts;
    for (const RunEvent& event : events) {
        if (event.name != "start" && event.name != "resume") continue;
        starts.erase(starts.lower_bound(event.step), starts.end());  // their steps were repeated
        starts[event.step] = event.held_out;
    }
    return starts;
}

/// Returns the fingerprints of the rows that the evaluations were measured on; empty if one of them has none.
std::set<std::string> rows_measured(const RunHistory& run, const std::vector<RunEvent>& events) {
    const std::map<std::int64_t, std::string> starts = held_out_rows(events);
    std::set<std::string> rows;
    for (const EvaluationRecord& evaluation : run.metrics.evaluations) {
        auto next = starts.lower_bound(evaluation.step);  // of the starts before this step, the last
        if (next != starts.begin()) --next;
        else if (next == starts.end()) return {};
        // A start that has no step to train may still evaluate.
        if (next->second.empty() && starts.contains(evaluation.step)) next = starts.find(evaluation.step);
        if (next->second.empty()) return {};
        rows.insert(next->second);
    }
    return rows;
}

std::optional<RunExit> read_exit(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) return std::nullopt;
    try {
        const auto record = nlohmann::json::parse(read_file(file));
        return RunExit{record.at("code").get<int>(), record.at("cause").get<std::string>()};
    } catch (const std::exception&) { return std::nullopt; }  // damaged: the record is only advisory
}

RunHistory read_one(const std::filesystem::path& folder) {
    const RunPaths paths(folder);
    if (!std::filesystem::is_regular_file(paths.metrics()))
        throw DataError(concat(
            folder.string(),
            ": contains no run, and there is none below it: metrics.jsonl is missing; expected a folder that `train` wrote"));
    RunHistory run;
    run.parts = {folder};
    run.metrics = read_metrics(paths.metrics());
    if (run.metrics.steps.empty()) throw NoStepYet(concat(folder.string(), ": this run has no step yet; train first"));
    run.total_steps = total_steps_of(paths.settings());
    const std::vector<RunEvent> events =
        std::filesystem::exists(paths.events()) ? read_events(paths.events()) : std::vector<RunEvent>{};
    for (const RunEvent& event : events) {
        if (event.samples_per_epoch > 0) run.samples_per_epoch = event.samples_per_epoch;
        if (event.name == "start" || event.name == "resume" || event.name == "stop" || event.name == "finish")
            run.is_finished = event.name == "finish";
    }
    run.held_out = rows_measured(run, events);
    run.sessions = put_on_one_clock(run.metrics, events);
    return run;
}

/// Appends a phase, whose own steps and samples count from its start.
void append(RunHistory& run, RunHistory phase) {
    const StepRecord last = run.metrics.steps.back();
    for (StepRecord& record : phase.metrics.steps) {
        record.step += last.step;
        record.samples += last.samples;
    }
    for (EvaluationRecord& record : phase.metrics.evaluations) record.step += last.step;
    for (Session& session : phase.sessions) session.first_step += last.step;
    phase.sessions.front().begins_phase = true;
    const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    add(run.metrics.steps, phase.metrics.steps);
    add(run.metrics.evaluations, phase.metrics.evaluations);
    add(run.sessions, phase.sessions);
    add(run.parts, phase.parts);
    if (!phase.held_out.empty() && !run.held_out.empty()) run.held_out.merge(phase.held_out);
    else run.held_out.clear();
    run.is_finished = phase.is_finished;
    run.samples_per_epoch = run.total_steps = 0;
}

/// Returns the phases that have steps as one run; the newest may have none yet.
RunHistory read_phases(const std::vector<std::filesystem::path>& phases) {
    RunHistory run = read_one(phases.front());
    for (std::size_t i = 1; i < phases.size(); ++i) try {
            append(run, read_one(phases[i]));
        } catch (const DataError&) {
            if (i + 1 < phases.size()) throw;
        }
    return run;
}

bool is_run(const std::filesystem::path& folder) {
    return std::filesystem::exists(RunPaths(folder).metrics()) || !phases_of_run(folder).empty();
}

/// Adds the runs below a folder, in the order of their paths. Runs are not looked for inside runs.
void add_runs_below(const std::filesystem::path& folder, int depth, std::vector<std::string>& runs) {
    std::vector<std::filesystem::path> inner;
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable))
        if (entry.is_directory(unreadable) && !entry.is_symlink(unreadable)) inner.push_back(entry.path());
    std::sort(inner.begin(), inner.end());
    for (const std::filesystem::path& one : inner) {
        if (is_run(one)) runs.push_back(one.string());
        else if (depth > 1) add_runs_below(one, depth - 1, runs);
    }
}

/// Adds the run that an argument names, or the runs below it; the argument itself if there are none, which read_run() refuses.
void add_runs(const std::string& argument, std::vector<std::string>& runs) {
    constexpr int depth = 3;
    const std::size_t before = runs.size();
    if (!is_run(argument)) add_runs_below(argument, depth, runs);
    if (runs.size() == before) runs.push_back(argument);
}

}  // namespace

RunHistory read_run(const std::filesystem::path& folder) {
    const std::vector<std::filesystem::path> phases = phases_of_run(folder);
    RunHistory run = phases.empty() ? read_one(folder) : read_phases(phases);
    run.folder = folder;
    if (!run.is_finished)
        run.exit = read_exit(RunPaths(folder).exit_record());  // else of a later start, which found nothing to do
    run.name = displayable(std::filesystem::absolute(folder / "").parent_path().filename().string());
    return run;
}

std::vector<RunHistory> read_runs(const std::vector<std::string>& arguments) {
    std::vector<RunHistory> runs;
    std::vector<std::string> folders;
    for (const std::string& argument : arguments) add_runs(argument, folders);
    std::vector<std::string> empty;
    for (const std::string& folder : folders) try {
            runs.push_back(read_run(folder));
        } catch (const NoStepYet& error) { empty.emplace_back(error.what()); }
    if (runs.empty()) throw DataError(join(empty, "\n"));
    for (const std::string& message : empty) log_warning(concat(message, "; it is left out"));
    const auto named_alike = [&](const std::string& name) {
        return std::count_if(runs.begin(), runs.end(), [&](const RunHistory& run) { return run.name == name; });
    };
    std::vector<bool> ambiguous;
    for (const RunHistory& run : runs) ambiguous.push_back(named_alike(run.name) > 1);
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (ambiguous[i]) runs[i].name = displayable(runs[i].folder.string());
    return runs;
}

Spent spent_until(const RunHistory& run, double time) {
    Spent spent;
    for (const Session& session : run.sessions) {
        if (session.begin > time) break;
        const double seconds = std::min(session.end, time) - session.begin;
        spent.seconds += seconds;
        spent.accelerator_seconds += seconds * static_cast<double>(session.ranks);
        if (!session.begins_phase) ++spent.restarts;
    }
    spent.restarts = std::max<std::int64_t>(0, spent.restarts - 1);
    return spent;
}

namespace {

/// The median of a number over the last session's steps, without the first fifth of them; over all steps if it has none yet.
double steady(const RunHistory& run, double StepRecord::*number) {
    std::vector<double> values;
    for (const StepRecord& step : run.metrics.steps)
        if (step.step > run.sessions.back().first_step) values.push_back(step.*number);
    if (values.empty())
        for (const StepRecord& step : run.metrics.steps) values.push_back(step.*number);
    return median({values.begin() + static_cast<std::ptrdiff_t>(values.size() / 5), values.end()});
}

}  // namespace

double steady_rate(const RunHistory& run) { return steady(run, &StepRecord::sequences_per_second); }
double steady_tflops(const RunHistory& run) { return steady(run, &StepRecord::model_tflops_per_second); }

double last_training_loss(const RunHistory& run) {
    const auto& steps = run.metrics.steps;
    const std::size_t count = std::clamp<std::size_t>(steps.size() / 10, 1, 100);
    double sum = 0;
    for (std::size_t i = steps.size() - count; i < steps.size(); ++i) sum += steps[i].mlm_loss;
    return sum / static_cast<double>(count);
}

std::optional<double> best_held_out_loss(const RunHistory& run) {
    std::optional<double> best;
    for (const EvaluationRecord& evaluation : run.metrics.evaluations)
        if (std::isfinite(evaluation.mlm_loss) && (!best || evaluation.mlm_loss < *best)) best = evaluation.mlm_loss;
    return best;
}

}  // namespace bertpretrain
