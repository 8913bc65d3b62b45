#include "reports/run_charts.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "reports/device_charts.h"
#include "reports/source_losses.h"
#include "telemetry/chart_points.h"

namespace bertpretrain {
namespace {

constexpr auto& colors = chart_colors;

template <class Record>
using Place = std::function<double(const RunHistory&, const Record&)>;

/// Builds a chart of one number from every run's records, with one color per run.
class Painter {
public:
    Painter(const std::vector<RunHistory>& runs, std::string title, std::string x_label, std::string y_label)
        : runs_(runs), chart_{std::move(title), std::move(x_label), std::move(y_label), {}, {}} {}

    template <class Record>
    ChartPoints points(const RunHistory& run, const std::vector<Record>& records, const Place<Record>& x,
                       const Place<Record>& y) {
        ChartPoints all;
        for (const Record& record : records) all.emplace_back(x(run, record), y(run, record));
        return all;
    }
    Painter& steps(const Place<StepRecord>& x, const Place<StepRecord>& y, const std::string& what, bool smooth) {
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            ChartPoints all = points<StepRecord>(runs_[i], runs_[i].metrics.steps, x, y);
            if (smooth) all = smoothed(all, std::max<std::size_t>(1, all.size() / 100));
            chart_.lines.push_back({runs_[i].name + what, colors[i % colors.size()], thinned(all), 1.5, false});
        }
        return *this;
    }
    Painter& evaluations(const Place<EvaluationRecord>& x, const Place<EvaluationRecord>& y, const std::string& what) {
        for (std::size_t i = 0; i < runs_.size(); ++i)
            chart_.lines.push_back({runs_[i].name + what, colors[i % colors.size()],
                                    thinned(points<EvaluationRecord>(runs_[i], runs_[i].metrics.evaluations, x, y)), 2, true});
        return *this;
    }
    /// Adds a thin line without a legend entry, one end of an interval.
    Painter& bounds(const Place<EvaluationRecord>& x, const Place<EvaluationRecord>& y) {
        for (std::size_t i = 0; i < runs_.size(); ++i)
            chart_.lines.push_back({"", colors[i % colors.size()],
                                    thinned(points<EvaluationRecord>(runs_[i], runs_[i].metrics.evaluations, x, y)), 0.6, false});
        return *this;
    }
    /// Adds published curves in the colors that the runs leave.
    Painter& references(const std::vector<ReferenceCurve>& references) {
        for (std::size_t i = 0; i < references.size(); ++i)
            chart_.lines.push_back(
                {references[i].name, colors[(runs_.size() + i) % colors.size()], references[i].points, 1, true});
        return *this;
    }
    Painter& restarts() {
        for (const RunHistory& run : runs_)
            for (std::size_t i = 1; i < run.sessions.size(); ++i)
                chart_.marks.push_back(
                    {run.sessions[i].begins_phase ? "phase" : "restart", static_cast<double>(run.sessions[i].first_step)});
        return *this;
    }
    /// Adds the chart without lines that have no points. Adds nothing if no line remains, or all are zero everywhere: the time
    /// that a single rank waits for others, or the use of a device that could not be read.
    void add_to(std::vector<NamedChart>& charts, const std::string& name) {
        const auto has = [](const ChartLine& line, const auto& what) {
            return std::any_of(line.points.begin(), line.points.end(), [&](const auto& point) {
                return std::isfinite(point.first) && std::isfinite(point.second) && what(point.second);
            });
        };
        std::erase_if(chart_.lines, [&](const ChartLine& line) { return !has(line, [](double) { return true; }); });
        const bool shows_something = std::any_of(chart_.lines.begin(), chart_.lines.end(), [&](const ChartLine& line) {
            return has(line, [](double y) { return y != 0; });
        });
        if (shows_something) charts.push_back({name, chart_});
    }
    /// Lets a run that diverges leave the picture, so that the other runs remain legible.
    Painter& up_to(double most) {
        chart_.y_most = most;
        return *this;
    }
    Painter& from_zero() {
        chart_.y_from_zero = true;
        return *this;
    }

private:
    const std::vector<RunHistory>& runs_;
    Chart chart_;
};

double step_of(const RunHistory&, const StepRecord& record) { return static_cast<double>(record.step); }
double evaluated_step_of(const RunHistory&, const EvaluationRecord& record) { return static_cast<double>(record.step); }
double hours_of(const RunHistory& run, const EvaluationRecord& record) { return spent_until(run, record.time).seconds / 3600; }

/// Returns NaN if the run does not record the length of its epochs.
double epochs_of(const RunHistory& run, const StepRecord& record) {
    return run.samples_per_epoch > 0 ? static_cast<double>(record.samples) / static_cast<double>(run.samples_per_epoch) : NAN;
}

Place<StepRecord> number(double StepRecord::*member) {
    return [member](const RunHistory&, const StepRecord& record) { return record.*member; };
}
Place<EvaluationRecord> number(double EvaluationRecord::*member) {
    return [member](const RunHistory&, const EvaluationRecord& record) { return record.*member; };
}
/// Returns NaN for a model that does not predict next sentences, whose lines the chart then lacks.
template <class Record>
double nsp_loss(const RunHistory&, const Record& record) {
    return record.next_sentence ? record.nsp_loss : NAN;
}
Place<StepRecord> percent_of_step(double StepRecord::*member) {
    return [member](const RunHistory&, const StepRecord& record) { return 100 * record.*member / record.step_seconds; };
}

Place<EvaluationRecord> percent_of_probe(double ProbeRecord::*member) {
    return [member](const RunHistory&, const EvaluationRecord& record) {
        return record.probe ? 100 * (*record.probe).*member : NAN;
    };
}

/// The chart of evaluation.probe, with the bounds of the accuracy's interval as thin lines.
void add_probe(std::vector<NamedChart>& charts, const std::vector<RunHistory>& runs) {
    Painter(runs, "Probe: labels predicted correctly from frozen vectors", "optimizer step", "%")
        .evaluations(evaluated_step_of, percent_of_probe(&ProbeRecord::accuracy), "")
        .bounds(evaluated_step_of, percent_of_probe(&ProbeRecord::accuracy_low))
        .bounds(evaluated_step_of, percent_of_probe(&ProbeRecord::accuracy_high))
        .add_to(charts, "probe_accuracy");
    Painter(runs, "Probe: macro-F1", "optimizer step", "%")
        .evaluations(evaluated_step_of, percent_of_probe(&ProbeRecord::macro_f1), "")
        .bounds(evaluated_step_of, percent_of_probe(&ProbeRecord::macro_f1_low))
        .bounds(evaluated_step_of, percent_of_probe(&ProbeRecord::macro_f1_high))
        .add_to(charts, "probe_macro_f1");
}

void add_losses(std::vector<NamedChart>& charts, const std::vector<RunHistory>& runs) {
    const std::string nats = "nats per masked token";
    Painter(runs, "Masked-word loss", "optimizer step", nats)
        .steps(step_of, number(&StepRecord::mlm_loss), "", true)
        .evaluations(evaluated_step_of, number(&EvaluationRecord::mlm_loss), ", held-out")
        .restarts()
        .up_to(most_mlm_loss)
        .add_to(charts, "mlm_loss");
    if (auto chart = source_loss_chart(runs)) charts.push_back({"source_mlm_loss", std::move(*chart)});
    Painter(runs, "Masked-word loss by epochs", "epochs", nats)
        .steps(epochs_of, number(&StepRecord::mlm_loss), "", true)
        .up_to(most_mlm_loss)
        .add_to(charts, "mlm_loss_by_epochs");
    Painter(runs, "Held-out masked-word loss by time, restarts included", "hours", nats)
        .evaluations(hours_of, number(&EvaluationRecord::mlm_loss), "")
        .up_to(most_mlm_loss)
        .add_to(charts, "held_out_mlm_loss_by_hours");
    Painter(runs, "Next-sentence loss", "optimizer step", "nats per sequence")
        .steps(step_of, nsp_loss<StepRecord>, "", true)
        .evaluations(evaluated_step_of, nsp_loss<EvaluationRecord>, ", held-out")
        .restarts()
        .up_to(most_nsp_loss)
        .add_to(charts, "nsp_loss");
    Painter(runs, "Held-out masked words predicted correctly", "optimizer step", "share")
        .evaluations(evaluated_step_of, number(&EvaluationRecord::mlm_accuracy), "")
        .from_zero()
        .add_to(charts, "held_out_mlm_accuracy");
}

}  // namespace

std::vector<NamedChart> run_charts(const std::vector<RunHistory>& runs, const std::vector<ReferenceCurve>& references) {
    std::vector<NamedChart> charts;
    if (!references.empty())
        Painter(runs, "Loss of all tasks, beside published curves", "optimizer step", "nats")
            .steps(step_of, number(&StepRecord::loss), "", true)
            .references(references)
            .up_to(most_mlm_loss + most_nsp_loss)
            .add_to(charts, "loss_and_references");
    add_losses(charts, runs);
    add_probe(charts, runs);
    const auto per_step = [&](const std::string& name, const std::string& title, const std::string& unit,
                              const Place<StepRecord>& y) {
        Painter(runs, title, "optimizer step", unit).steps(step_of, y, "", false).restarts().from_zero().add_to(charts, name);
    };
    per_step("learning_rate", "Learning rate", "", number(&StepRecord::learning_rate));
    per_step("grad_norm", "Gradient norm before clipping", "", number(&StepRecord::grad_norm));
    per_step("sequences_per_second", "Throughput", "sequences per second", number(&StepRecord::sequences_per_second));
    per_step("mfu", "MFU (model FLOP/s utilization)", "% of the measured matmul rate",
             [](const RunHistory&, const StepRecord& record) { return 100 * record.mfu; });
    per_step("device_utilization", "Device utilization (rank 0)", "% of the time busy",
             [](const RunHistory&, const StepRecord& record) { return 100 * record.device_utilization; });
    per_step("memory", "Memory in use on the device (rank 0)", "GiB",
             [](const RunHistory&, const StepRecord& record) { return record.memory_bytes / 0x1p30; });
    per_step("data_wait", "Waiting for data", "% of the step", percent_of_step(&StepRecord::data_wait_seconds));
    per_step("exposed_communication", "Waiting for other ranks", "% of the step",
             percent_of_step(&StepRecord::exposed_communication_seconds));
    for (NamedChart& chart : device_charts(runs)) charts.push_back(std::move(chart));
    return charts;
}

}  // namespace bertpretrain
