#include "train/audit/replay/audit_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <sstream>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_store.h"
#include "config/write.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/random.h"
#include "parallel/together.h"
#include "telemetry/metrics_file.h"
#include "telemetry/run_paths.h"
#include "train/audit/replay/replay.h"
#include "train/audit/run_sessions.h"
#include "train/make_trainer.h"

namespace bertpretrain {
namespace {

using Steps = std::pair<std::int64_t, std::int64_t>;  ///< the first and last of a stretch

/// The kept checkpoints of a run. Each is verified once, when it is needed.
class KeptCheckpoints {
public:
    explicit KeptCheckpoints(const RunPaths& run) : checkpoints_(run.checkpoints()) {
        for (const auto& [step, folder] : CheckpointStore(checkpoints_).all()) folders_[step] = folder;
    }

    /// From now on what one rank finds damaged or missing is so on all, so that all replay from the same step; `ranks` must
    /// outlive this.
    void agree_with(ControlGroup& ranks) {
        ranks_ = &ranks;
        std::string own;
        for (const auto& [step, folder] : folders_) own += folder.filename().string() + "\n";
        for (const std::string& names : ranks.all_gather_texts(own)) {
            std::istringstream lines(names);
            for (std::string name; std::getline(lines, name);)
                if (const auto step = step_of_folder_name(name)) folders_.try_emplace(*step, checkpoints_ / name);
        }
    }

    std::int64_t last_step() const { return folders_.empty() ? 0 : folders_.rbegin()->first; }

    /// Returns the checkpoint of a step; null where there is none or it is damaged. @param damage receives how it is damaged
    const CheckpointReader* at(std::int64_t step, std::string* damage = nullptr) {
        const auto folder = folders_.find(step);
        if (folder == folders_.end()) return nullptr;
        const auto [opened, is_new] = opened_.try_emplace(step);
        if (is_new) {
            try {
                opened->second.reader = std::make_unique<CheckpointReader>(folder->second);
            } catch (const CheckpointError& error) { opened->second.damage = error.what(); }
        }
        if (ranks_ != nullptr && !opened->second.is_agreed) agree(opened->second);
        if (damage != nullptr) *damage = opened->second.damage;
        return opened->second.reader.get();
    }

    /// Returns the newest undamaged checkpoint before a step; null: none.
    const CheckpointReader* before(std::int64_t step) {
        for (auto folder = folders_.lower_bound(step); folder != folders_.begin();)
            if (const CheckpointReader* reader = at((--folder)->first)) return reader;
        return nullptr;
    }

private:
    struct Opened {
        std::unique_ptr<CheckpointReader> reader;
        std::string damage;
        bool is_agreed = false;
    };

    void agree(Opened& opened) const {
        const std::vector<std::string> all = ranks_->all_gather_texts(opened.damage);
        const auto damaged = std::find_if(all.begin(), all.end(), [](const std::string& damage) { return !damage.empty(); });
        opened.is_agreed = true;
        if (damaged == all.end()) return;
        opened.damage = all.size() == 1 ? *damaged : concat("on rank ", damaged - all.begin(), ": ", *damaged);
        opened.reader.reset();
    }

    std::filesystem::path checkpoints_;
    ControlGroup* ranks_ = nullptr;
    std::map<std::int64_t, std::filesystem::path> folders_;
    std::map<std::int64_t, Opened> opened_;
};

/// The lines of steps, by step.
using LoggedSteps = std::map<std::int64_t, StepRecord>;

LoggedSteps read_logged_steps(const RunPaths& run) {
    LoggedSteps logged;
    for_each_record(
        run.metrics(), [&](const StepRecord& record) { logged[record.step] = record; }, [](const EvaluationRecord&) {});
    if (logged.empty()) throw DataError(concat(run.metrics().string(), ": has no step to audit"));
    return logged;
}

/// The run's settings with the overrides. @throws ConfigError for one that defines the run
RequestedExperiment experiment_of(const RunPaths& run, const std::vector<std::string>& overrides) {
    require_no_phases(run.folder());
    if (!exists_here(run.settings()))
        throw DataError(concat(run.folder().string(), ": is not a run's folder: it has no ", run.settings().filename().string()));
    RequestedExperiment experiment = request_experiment(run.settings(), overrides);
    for (const Difference& difference : compare_configs(load_experiment(run.settings(), {}), experiment.settings))
        if (!difference.may_change)
            throw ConfigError(concat("--set ", difference.path, "=", difference.value_b, ": the run has ", difference.value_a,
                                     ", and an audit computes by the run's settings\n  do: leave it out"));
    if (auto& weights = experiment.settings.initialization.init_from; weights && is_phase_of_run(*weights))
        if (const auto beside = run.folder().parent_path() / std::filesystem::path(*weights).filename(); exists_here(beside))
            *weights = beside.string();  // the run's folder may have been moved
    return experiment;
}

/// Random stretches, in order; those that overlap or touch are joined.
std::vector<Steps> draw_stretches(std::int64_t count, const Steps& all, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto count_of_all = static_cast<std::uint64_t>(all.second - all.first + 1);
    std::vector<Steps> drawn, joined;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t first = all.first + static_cast<std::int64_t>(random() % count_of_all);
        drawn.emplace_back(first, std::min(first + sample_steps - 1, all.second));
    }
    std::sort(drawn.begin(), drawn.end());
    for (const Steps& steps : drawn) {
        if (joined.empty() || steps.first > joined.back().second + 1) joined.push_back(steps);
        else joined.back().second = std::max(joined.back().second, steps.second);
    }
    return joined;
}

std::vector<Steps> stretches_of(const AuditRequest& request, const Steps& all, ControlGroup& ranks) {
    if (request.samples > 0) {
        const std::uint64_t seed = ranks.rank() == 0 ? std::random_device()() : 0;
        return draw_stretches(request.samples, all, std::stoull(ranks.text_of_first(std::to_string(seed))));
    }
    return {request.steps.value_or(all)};
}

/// Compares the recomputed steps with the run's records.
class StepAuditor {
public:
    StepAuditor(const AuditRequest& request, const RunSessions& sessions, const LoggedSteps& logged, KeptCheckpoints& kept)
        : request_(request), sessions_(sessions), logged_(logged), kept_(kept) {}

    /// Brings the replay to the state before a stretch, from the nearest checkpoint or from where it stands.
    /// @returns the step of the checkpoint that was loaded; the replay's step where none was
    std::int64_t approach(Replay& replay, std::int64_t first) {
        const CheckpointReader* start = kept_.before(first);
        const std::int64_t step = start != nullptr ? start->step() : 0;
        if (replay.step() < step || replay.step() >= first) {
            replay.begin(start);
            exact_ = true;
        }
        return replay.step();
    }

    /// @returns nullopt where a signal asked to stop
    std::optional<StepRecord> compute(Replay& replay) {
        const RunSession& session = sessions_.of_step(replay.step() + 1);
        refuse_other_means(session, replay, replay.step() + 1);
        exact_ = exact_ && computes_as(session, replay.parts());
        return replay.next(session.settings.schedule, session.settings.optimizer.learning_rate);
    }

    AuditedStep compare(const Replay& replay, const StepRecord& computed) {
        const auto line = logged_.find(computed.step);
        AuditedStep step = compare_step(line == logged_.end() ? nullptr : &line->second, computed, exact_, request_.bound);
        std::string damage;
        if (const CheckpointReader* checkpoint = kept_.at(computed.step, &damage))
            add_tensors(step, replay.compare_with(*checkpoint), exact_, request_.bound);
        if (!damage.empty()) add_difference(step, damage);
        return step;
    }

private:
    static bool computes_as(const RunSession& session, const TrainerParts& parts) {
        return !session.computed_by.empty() && session.computed_by == computed_by(parts.parameters->device()) &&
               session.ranks == parts.world->size() && session.sums == sums_of(parts.plan, parts.world->route()) &&
               settings_that_change_bits(session.settings, parts.plan.settings).empty();
    }

    /// Where each micro-batch has a mean of its own, micro-batches of another size give other losses.
    static void refuse_other_means(const RunSession& session, const Replay& replay, std::int64_t step) {
        const std::int64_t then = session.settings.batch.micro_batch_size,
                           now = replay.parts().plan.settings.batch.micro_batch_size;
        if (replay.parts().plan.settings.training.loss_mean == LossMean::global || then == now) return;
        throw ConfigError(
            concat("step ", step, ": the run computed it with batch.micro_batch_size = ", then, ", not ", now,
                   ", and training.loss_mean = \"micro_batch\" depends on it\n  do: audit these steps by themselves, ",
                   "with --steps and --set batch.micro_batch_size=", then));
    }

    const AuditRequest& request_;
    const RunSessions& sessions_;
    const LoggedSteps& logged_;
    KeptCheckpoints& kept_;
    bool exact_ = true;  ///< the run computed all steps since the state that the replay began with as the replay does
};

/// The facts of the newest undamaged checkpoint: it has the choices of kernels, and the shares of sources, of all steps.
std::optional<CheckpointFacts> facts_of_newest(KeptCheckpoints& kept, const ExperimentConfig& settings) {
    const CheckpointReader* newest = kept.before(kept.last_step() + 1);
    if (newest == nullptr) return std::nullopt;
    return CheckpointFacts{settings, TrainingProgress::read(newest->progress(), newest->folder() / progress_file)};
}

/// @throws DataError on all ranks when the run was trained on other data
void refuse_other_data(const TrainingProgress& progress, const TrainerParts& parts, const RunPaths& run) {
    const std::string& fingerprint = progress.data_fingerprint;
    if (fingerprint == parts.loader->fingerprint() || fingerprint == parts.loader->earlier_fingerprint()) return;
    throw DataError(concat(run.folder().string(),
                           ": the run was trained on other data: the order of its samples has the fingerprint ", fingerprint,
                           ", that of the present shards ", parts.loader->fingerprint(), "\n  do: give the run's own ",
                           "shards, with --set data.training_shards=FOLDER if they were moved"));
}

void check_steps(const std::optional<Steps>& steps, std::int64_t last_step) {
    if (!steps || (steps->first >= 1 && steps->first <= steps->second && steps->second <= last_step)) return;
    throw ConfigError(concat("--steps ", steps->first, ":", steps->second, ": must be two steps from 1 to ", last_step,
                             ", the last one in the run's metrics.jsonl, in order"));
}

}  // namespace

std::optional<Audit> audit_run(const AuditRequest& request, const Launch& launch, StopRequest& requests) {
    const RunPaths run(request.run);
    const RequestedExperiment experiment = experiment_of(run, request.overrides);
    const RunSessions sessions(run);
    const LoggedSteps logged = read_logged_steps(run);
    KeptCheckpoints kept(run);
    Audit audit;
    audit.bound = request.bound;
    audit.last_step = logged.rbegin()->first;
    audit.chain = verify_chain(run.metrics());
    audit.missing = missing_lines(logged, sessions.begin(), kept.last_step());
    check_steps(request.steps, audit.last_step);
    const std::optional<CheckpointFacts> facts = facts_of_newest(kept, experiment.settings);
    Replay replay(make_replay_parts(experiment, facts ? &*facts : nullptr, launch), requests);
    kept.agree_with(*replay.parts().world);
    if (facts) refuse_other_data(facts->progress, replay.parts(), run);
    requests.await_requests();
    StepAuditor auditor(request, sessions, logged, kept);
    const Steps all{std::min(sessions.begin() + 1, audit.last_step), audit.last_step};
    for (const Steps& steps : stretches_of(request, all, *replay.parts().world)) {
        AuditedStretch stretch;
        stretch.from = auditor.approach(replay, steps.first);
        if (launch.rank == 0)
            log_info(concat("steps ", steps.first, " to ", steps.second, ": computing from step ", stretch.from));
        while (replay.step() < steps.second) {
            const double begin = seconds_now();
            const std::optional<StepRecord> computed = auditor.compute(replay);
            if (!computed) return std::nullopt;
            audit.seconds += seconds_now() - begin;
            ++audit.computed_steps;
            if (computed->step >= steps.first) stretch.steps.push_back(auditor.compare(replay, *computed));
        }
        audit.stretches.push_back(std::move(stretch));
    }
    replay.parts().step->settle_all_ranks();
    return audit;
}

}  // namespace bertpretrain
