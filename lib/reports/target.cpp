#include "reports/target.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// Returns the keys of a record that measure the model's quality.
template <class Record>
std::vector<std::string> quality_keys() {
    std::vector<std::string> keys;
    Record any_record;
    if constexpr (std::is_same_v<Record, EvaluationRecord>) any_record.probe.emplace();
    Record::fields(any_record, [&](const std::string& key, const auto&) {
        for (const std::string_view ending : {"loss", "accuracy", "perplexity", "macro_f1"})
            if (key.ends_with(ending)) keys.push_back(key);
    });
    return keys;
}

template <class Record>
const Record* first_of(const std::vector<Record>& records, const Target& target) {
    for (const Record& record : records) {
        bool reached = false;
        Record::fields(record, [&](const std::string& key, const auto& value) {
            reached = reached || (key == target.key && target.is_reached_by(static_cast<double>(value)));
        });
        if (reached) return &record;
    }
    return nullptr;
}

std::int64_t samples_at(const RunHistory& run, std::int64_t step) {
    for (const StepRecord& record : run.metrics.steps)
        if (record.step == step) return record.samples;
    return 0;
}

bool is_share(std::string_view key) { return key.ends_with("accuracy") || key.ends_with("macro_f1"); }

/// @throws ConfigError for a value that the measure cannot have
void check_value(const Target& target, std::string_view text) {
    const double least = target.key.ends_with("perplexity") ? 1 : 0, value = target.value;
    if (value >= least && (is_share(target.key) ? value <= 1 : std::isfinite(value))) return;
    throw ConfigError(concat("--target ", text, ": ", target.key, " is ",
                             is_share(target.key) ? "a share, from 0 to 1"
                             : least > 0          ? "at least 1"
                                                  : "in nats, at least 0",
                             is_share(target.key) && value > 1 && value <= 100
                                 ? concat("\n  do: for ", value, " %, --target ", target.key, "=", value / 100)
                                 : ""));
}

template <class Record>
bool has_key(const std::vector<Record>& records, const std::string& wanted) {
    return std::any_of(records.begin(), records.end(), [&](const Record& record) {
        bool found = false;
        Record::fields(record, [&](const std::string& key, const auto&) { found = found || key == wanted; });
        return found;
    });
}

}  // namespace

Target Target::parse(std::string_view text) {
    const std::size_t equals = text.find('=');
    Target target{std::string(text.substr(0, equals)), 0};
    std::vector<std::string> known = quality_keys<EvaluationRecord>();
    for (std::string& key : quality_keys<StepRecord>()) known.push_back(std::move(key));
    if (std::find(known.begin(), known.end(), target.key) == known.end())
        throw ConfigError(concat("--target ", text, ": \"", target.key, "\" cannot be a target; expected one of: ", join(known)));
    const std::string_view number = equals == text.npos ? std::string_view() : text.substr(equals + 1);
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), target.value);
    if (failure != std::errc() || end != number.data() + number.size())
        throw ConfigError(concat("--target ", text, ": expected KEY=NUMBER, e.g. held_out_mlm_loss=3.2"));
    check_value(target, text);
    return target;
}

bool Target::is_reached_by(double measured) const { return is_share(key) ? measured >= value : measured <= value; }

std::optional<Reached> first_reached(const RunHistory& run, const Target& target) {
    const StepRecord* step = first_of(run.metrics.steps, target);
    if (step != nullptr) return Reached{step->step, step->samples, spent_until(run, step->time)};
    const EvaluationRecord* evaluation = first_of(run.metrics.evaluations, target);
    if (evaluation == nullptr) return std::nullopt;
    return Reached{evaluation->step, samples_at(run, evaluation->step), spent_until(run, evaluation->time)};
}

bool is_measured(const RunHistory& run, const Target& target) {
    return has_key(run.metrics.steps, target.key) || has_key(run.metrics.evaluations, target.key);
}

std::string cost_text(const std::optional<Money>& cost) {
    return cost ? concat(fixed(cost->amount, 4), " ", cost->currency) : "-";
}

std::vector<std::vector<std::string>> target_rows(const std::vector<RunHistory>& runs, const Target& target,
                                                  const HourlyPrices& prices) {
    std::vector<std::vector<std::string>> rows{{"run", "step", "sequences", "hours", "accelerator-hours", "restarts", "cost",
                                                "times the first", "cost, times the first"}};
    std::optional<double> first_hours;
    std::optional<Money> first_cost;
    for (const RunHistory& run : runs) {
        const auto reached = first_reached(run, target);
        if (!reached) {
            rows.push_back(
                {run.name, is_measured(run, target) ? "not reached" : "not measured", "-", "-", "-", "-", "-", "-", "-"});
            continue;
        }
        const double hours = reached->spent.accelerator_seconds / 3600;
        if (!first_hours) first_hours = hours;
        const std::optional<Money> cost = prices.cost_of(run, reached->spent);
        if (!first_cost) first_cost = cost;
        const bool comparable = cost && cost->currency == first_cost->currency && first_cost->amount > 0;
        rows.push_back({run.name, with_thousands(reached->step), with_thousands(reached->samples),
                        fixed(reached->spent.seconds / 3600, 4), fixed(hours, 4), std::to_string(reached->spent.restarts),
                        cost_text(cost), *first_hours > 0 ? fixed(hours / *first_hours, 3) : "-",
                        comparable ? fixed(cost->amount / first_cost->amount, 3) : "-"});
    }
    return rows;
}

}  // namespace bertpretrain
