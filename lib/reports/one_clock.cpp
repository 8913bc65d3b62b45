#include "reports/one_clock.h"

#include <algorithm>
#include <optional>

namespace bertpretrain {
namespace {

/// A session whose length is being computed. Its times are still wall-clock times.
struct Start {
    double time = 0;
    double elapsed_seconds = -1;  ///< -1: unknown
    Session session;
    double seconds = 0;  ///< length so far

    /// Returns the seconds from the start to a moment of its session.
    double until(double moment, double elapsed) const {
        const bool knows = elapsed_seconds >= 0 && elapsed > 0;
        return std::max(0.0, knows ? elapsed - elapsed_seconds : moment - time);
    }
    void extend(double until_moment) { seconds = std::max(seconds, until_moment); }
};

std::vector<Start> starts_of(const std::vector<RunEvent>& events) {
    std::vector<Start> starts;
    for (const RunEvent& event : events) {
        if (event.name == "start" || event.name == "resume") {
            starts.push_back({event.time, event.elapsed_seconds, {0, 0, event.step, std::max<std::int64_t>(1, event.ranks), 0}});
        } else if (event.name == "lost" && starts.size() > 1) {  // by the previous session
            Start& earlier = starts[starts.size() - 2];
            earlier.session.lost_steps += event.lost_steps;
            earlier.extend(earlier.until(event.lost_until, event.lost_until_elapsed));
        } else if (!starts.empty()) {
            starts.back().extend(starts.back().until(event.time, event.elapsed_seconds));
        }
    }
    return starts;
}

/// Returns the session that took a step: the last one that began before it. nullopt if no known session did.
std::optional<std::size_t> session_of(const std::vector<Start>& starts, std::int64_t step) {
    for (std::size_t i = starts.size(); i-- > 0;)
        if (starts[i].session.first_step < step) return i;
    return std::nullopt;
}

/// Returns the session that evaluated after a step: the session that took the step, or a later one that resumed there and did
/// the missing evaluation. @param taken the record of that step, or nullptr
std::optional<std::size_t> session_of(const std::vector<Start>& starts, const EvaluationRecord& record, const StepRecord* taken) {
    const auto own = session_of(starts, record.step);
    for (std::size_t i = starts.size(); i-- > (own ? *own + 1 : 0);) {
        if (starts[i].session.first_step != record.step) continue;
        const bool knows = record.elapsed_seconds > 0 && taken != nullptr && taken->elapsed_seconds > 0;
        if (knows ? record.elapsed_seconds < taken->elapsed_seconds : record.time >= starts[i].time) return i;
    }
    return own;
}

const StepRecord* record_of(const std::vector<StepRecord>& steps, std::int64_t step) {
    const auto found =
        std::lower_bound(steps.begin(), steps.end(), step, [](const StepRecord& a, std::int64_t b) { return a.step < b; });
    return found != steps.end() && found->step == step ? &*found : nullptr;
}

}  // namespace

std::vector<Session> put_on_one_clock(Metrics& metrics, const std::vector<RunEvent>& events) {
    std::vector<Start> starts = starts_of(events);
    const StepRecord& first = metrics.steps.front();
    if (starts.empty()) starts.push_back({first.time - first.step_seconds, first.elapsed_seconds - first.step_seconds, {}});
    const auto sessions_of = [&](const auto& records, const auto& session) {
        std::vector<std::optional<std::size_t>> all;
        for (const auto& record : records) {
            all.push_back(session(record));
            if (all.back()) starts[*all.back()].extend(starts[*all.back()].until(record.time, record.elapsed_seconds));
        }
        return all;
    };
    const auto of_steps = sessions_of(metrics.steps, [&](const StepRecord& record) { return session_of(starts, record.step); });
    const auto of_evaluations = sessions_of(metrics.evaluations, [&](const EvaluationRecord& record) {
        return session_of(starts, record, record_of(metrics.steps, record.step));
    });
    std::vector<Session> sessions;
    for (Start& start : starts) {
        start.session.begin = sessions.empty() ? start.time : std::max(start.time, sessions.back().end);
        start.session.end = start.session.begin + start.seconds;
        sessions.push_back(start.session);
    }
    const auto set_times = [&](auto& records, const auto& of_records) {
        for (std::size_t i = 0; i < records.size(); ++i)
            if (const auto of = of_records[i])
                records[i].time = sessions[*of].begin + starts[*of].until(records[i].time, records[i].elapsed_seconds);
    };
    set_times(metrics.steps, of_steps);
    set_times(metrics.evaluations, of_evaluations);
    return sessions;
}

}  // namespace bertpretrain
