#include "train/audit/audit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/output/table.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// A non-finite number differs from all others by infinity.
double relative_difference(double recorded, double computed) {
    if (same_number(recorded, computed)) return 0;
    const double difference = std::fabs(recorded - computed) / std::fabs(recorded);
    return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

/// Keeps the first cause of the worst verdict.
void add_verdict(AuditedStep& step, AuditVerdict verdict, const std::string& what) {
    if (verdict == AuditVerdict::equal || verdict < step.verdict) return;
    if (verdict > step.verdict || step.what.empty()) step.what = what;
    step.verdict = verdict;
}

AuditVerdict verdict_of(double difference, bool exact, double bound) {
    return !exact && difference <= bound ? AuditVerdict::within_bound : AuditVerdict::different;
}

/// All digits that a float64 needs, as in metrics.jsonl.
std::string round_trip_text(double value) { return nlohmann::json(value).dump(); }

std::int64_t count(const std::vector<AuditedStep>& steps, AuditVerdict verdict) {
    return std::count_if(steps.begin(), steps.end(), [&](const AuditedStep& step) { return step.verdict == verdict; });
}

std::string verdict_text(const Audit& audit) {
    switch (audit.verdict()) {
        case AuditVerdict::equal:
            return "equal to the bit";
        case AuditVerdict::within_bound:
            return concat("equal within the bound of ", 100 * audit.bound.loss, " % of the loss");
        case AuditVerdict::different:
            break;
    }
    return "different";
}

std::string chain_text(const Audit& audit) {
    const ChainCheck& chain = audit.chain;
    if (!chain.broken.empty()) return concat("broken at ", chain.broken);
    std::string text = concat("intact, ", with_thousands(chain.lines), " lines");
    if (chain.unchained > 0)
        text += concat(", of which the first ", with_thousands(chain.unchained),
                       " have no chain value (an earlier version wrote them)");
    return text;
}

/// A line for each step that differs, and for the first of consecutive steps within the bound.
std::string differences_text(const Audit& audit) {
    constexpr int most_lines = 20;
    std::string text;
    int lines = 0;
    for (const AuditedStretch& stretch : audit.stretches) {
        AuditVerdict before = AuditVerdict::equal;
        for (const AuditedStep& step : stretch.steps) {
            const bool is_new = step.verdict == AuditVerdict::different || step.verdict != before;
            before = step.verdict;
            if (step.verdict == AuditVerdict::equal || !is_new) continue;
            if (++lines > most_lines) continue;
            text += concat("step ", step.step, ": ",
                           step.verdict == AuditVerdict::different ? "different: " : "within the bound: ", step.what, "\n");
        }
    }
    if (lines > most_lines) text += concat("... and ", lines - most_lines, " more; --json lists all\n");
    return text.empty() ? text : "\n" + text;
}

}  // namespace

const char* name_of(AuditVerdict verdict) {
    switch (verdict) {
        case AuditVerdict::equal:
            return "equal";
        case AuditVerdict::within_bound:
            return "within_bound";
        case AuditVerdict::different:
            break;
    }
    return "different";
}

AuditedStep compare_step(const StepRecord* logged, const StepRecord& computed, bool exact, const AuditBound& bound) {
    AuditedStep step{computed.step};
    if (logged == nullptr) {
        add_difference(step, "metrics.jsonl has no line of this step");
        return step;
    }
    const auto compare = [&](const char* name, double recorded, double now, bool exactly, double most) {
        if (same_number(recorded, now)) return;
        add_verdict(step, verdict_of(relative_difference(recorded, now), exactly, most),
                    concat(name, " is ", round_trip_text(recorded), " in metrics.jsonl, ", round_trip_text(now), " recomputed"));
    };
    step.loss_difference = relative_difference(logged->loss, computed.loss);
    compare("loss", logged->loss, computed.loss, exact, bound.loss);
    compare("mlm_loss", logged->mlm_loss, computed.mlm_loss, exact, bound.loss);
    // Near 0 its relative difference grows, so that it is compared as a part of the loss.
    compare("nsp_loss", logged->loss + logged->nsp_loss, logged->loss + computed.nsp_loss, exact, bound.loss);
    compare("grad_norm", logged->grad_norm, computed.grad_norm, exact, bound.grad_norm());
    compare("learning_rate", logged->learning_rate, computed.learning_rate, true, 0);
    compare("samples", static_cast<double>(logged->samples), static_cast<double>(computed.samples), true, 0);
    if (exact) compare("mlm_accuracy", logged->mlm_accuracy, computed.mlm_accuracy, true, 0);
    return step;
}

void add_tensors(AuditedStep& step, const std::vector<TensorComparison>& tensors, bool exact, const AuditBound& bound) {
    step.is_saved = true;
    for (const TensorComparison& tensor : tensors)
        if (!tensor.equal)
            add_verdict(step, verdict_of(tensor.difference, exact, bound.tensor()),
                        concat("tensor ", tensor.name, " of the checkpoint differs from the recomputed one by ",
                               100 * tensor.difference, " % of its norm"));
}

void add_difference(AuditedStep& step, const std::string& what) { add_verdict(step, AuditVerdict::different, what); }

std::string missing_lines(const std::map<std::int64_t, StepRecord>& logged, std::int64_t begin, std::int64_t last_saved) {
    std::int64_t last = begin;
    for (const auto& [step, line] : logged) {
        if (step > last + 1)
            return concat("metrics.jsonl has no lines of the steps ", last + 1, " to ", step - 1, ", which the run computed");
        last = std::max(last, step);
    }
    return last_saved > last ? concat("metrics.jsonl ends with step ", last, ", but there is a checkpoint of step ", last_saved)
                             : "";
}

AuditVerdict Audit::verdict() const {
    AuditVerdict worst = chain.broken.empty() && missing.empty() ? AuditVerdict::equal : AuditVerdict::different;
    for (const AuditedStretch& stretch : stretches)
        for (const AuditedStep& step : stretch.steps) worst = std::max(worst, step.verdict);
    return worst;
}

std::string text_of(const Audit& audit) {
    Table table({"steps", "computed from", "equal to the bit", "within the bound", "different", "checkpoints compared",
                 "largest difference of the loss"});
    for (const AuditedStretch& stretch : audit.stretches) {
        double largest = 0;
        std::int64_t saved = 0;
        for (const AuditedStep& step : stretch.steps) {
            largest = std::max(largest, step.loss_difference);
            saved += step.is_saved ? 1 : 0;
        }
        table.add({concat(stretch.steps.front().step, " to ", stretch.steps.back().step),
                   stretch.from == 0 ? "the start" : concat("step ", stretch.from),
                   concat(count(stretch.steps, AuditVerdict::equal)), concat(count(stretch.steps, AuditVerdict::within_bound)),
                   concat(count(stretch.steps, AuditVerdict::different)), concat(saved), concat(100 * largest, " %")});
    }
    std::string text = table.text() + differences_text(audit) + "\nchain of metrics.jsonl: " + chain_text(audit) + "\n";
    if (!audit.missing.empty()) text += audit.missing + "\n";
    if (audit.computed_steps > 0)
        text += concat("time: ", fixed(audit.seconds / audit.computed_steps, 3), " s per recomputed step\n");
    return text + "audit: " + verdict_text(audit) + "\n";
}

std::string json_of(const Audit& audit) {
    using nlohmann::ordered_json;
    ordered_json out{
        {"verdict", name_of(audit.verdict())},
        {"bound", audit.bound.loss},
        {"last_step", audit.last_step},
        {"chain",
         {{"intact", audit.chain.broken.empty()}, {"lines", audit.chain.lines}, {"without_value", audit.chain.unchained}}}};
    if (!audit.chain.broken.empty()) out["chain"]["broken"] = audit.chain.broken;
    if (audit.chain.broken_step) out["chain"]["broken_step"] = *audit.chain.broken_step;
    if (!audit.missing.empty()) out["missing"] = audit.missing;
    out["seconds_per_step"] = audit.computed_steps > 0 ? ordered_json(audit.seconds / audit.computed_steps) : ordered_json();
    out["stretches"] = ordered_json::array();
    for (const AuditedStretch& stretch : audit.stretches) {
        ordered_json steps = ordered_json::array();
        for (const AuditedStep& step : stretch.steps) {
            ordered_json one{{"step", step.step}, {"verdict", name_of(step.verdict)}};
            one["loss_difference"] = std::isfinite(step.loss_difference) ? ordered_json(step.loss_difference) : ordered_json();
            if (step.is_saved) one["checkpoint"] = true;
            if (!step.what.empty()) one["what"] = step.what;
            steps.push_back(std::move(one));
        }
        out["stretches"].push_back({{"from", stretch.from}, {"steps", std::move(steps)}});
    }
    return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace bertpretrain
