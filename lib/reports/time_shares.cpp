#include "reports/time_shares.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/concat.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr double good_utilisation = 0.9;
constexpr double shortest_flagged = 60;  // seconds: no setting changes what a shorter run spends on its start and its last save

/// The end time and the duration of a record. Evaluations do not record their duration.
struct Moment {
    double time = 0, seconds = 0;
    bool is_evaluation = false;
};

std::vector<Moment> moments_of(const RunHistory& run) {
    std::vector<Moment> moments;
    for (const StepRecord& step : run.metrics.steps) moments.push_back({step.time, step.step_seconds, false});
    for (const EvaluationRecord& evaluation : run.metrics.evaluations) moments.push_back({evaluation.time, 0, true});
    std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) { return a.time < b.time; });
    return moments;
}

/// Adds the time between the records of one session to the activity that took it.
void add_gaps(TimeShares& shares, const Session& session, const std::vector<Moment>& moments) {
    double last = session.begin;
    bool has_begun = false;
    for (const Moment& moment : moments) {
        if (moment.time < session.begin || moment.time > session.end) continue;
        const double gap = std::max(0.0, moment.time - last - moment.seconds);
        (moment.is_evaluation ? shares.evaluating : has_begun ? shares.saving : shares.starting) += gap;
        last = moment.time;
        has_begun = true;
    }
    const double rest = std::max(0.0, session.end - last);
    (session.lost_steps > 0 ? shares.lost : has_begun ? shares.saving : shares.starting) += rest;
}

double sum_of(const RunHistory& run, double StepRecord::*member) {
    return std::accumulate(run.metrics.steps.begin(), run.metrics.steps.end(), 0.0, [&](double sum, const StepRecord& step) {
        return sum + (std::isfinite(step.*member) ? step.*member : 0);
    });
}

}  // namespace

TimeShares time_shares(const RunHistory& run) {
    TimeShares shares;
    shares.data = sum_of(run, &StepRecord::data_wait_seconds);
    shares.communication = sum_of(run, &StepRecord::exposed_communication_seconds);
    shares.computing = std::max(0.0, sum_of(run, &StepRecord::step_seconds) - shares.data - shares.communication);
    const std::vector<Moment> moments = moments_of(run);
    for (const Session& session : run.sessions) add_gaps(shares, session, moments);
    return shares;
}

std::optional<std::string> low_utilisation(const RunHistory& run, const TimeShares& shares) {
    if (shares.utilisation() >= good_utilisation || shares.total() < shortest_flagged) return std::nullopt;
    const double communicating = sum_of(run, &StepRecord::communication_seconds);
    const bool small_batches = communicating > shares.computing;
    using Cause = std::pair<double, std::string>;
    const std::array causes{
        Cause{shares.data, "waiting for data; raise data.loader_threads, or put the shards on a faster disk"},
        Cause{shares.communication,
              small_batches
                  ? "communication, because of small batches: a step's transfers take longer than its computation; raise "
                    "batch.gradient_accumulation_steps"
                  : "communication that is not hidden by computation; look for the slowest rank in log.txt, try other values of "
                    "parallel.bucket_mib, or parallel.reduce_dtype = \"bf16\""},
        Cause{shares.saving, "saving; raise checkpoint.save_every_steps"},
        Cause{shares.evaluating, "evaluating; raise evaluation.every_steps or lower evaluation.max_sequences"},
        Cause{shares.lost, "steps that were lost and repeated; lower checkpoint.save_every_steps"},
        Cause{shares.starting, "starting; the run is short or restarts too often"}};
    const Cause& largest = *std::max_element(causes.begin(), causes.end());
    return concat(run.name, ": computes ", fixed(100 * shares.utilisation(), 1), " % of the time. The largest part of the rest, ",
                  fixed(100 * largest.first / shares.total(), 1), " %, is ", largest.second);
}

}  // namespace bertpretrain
