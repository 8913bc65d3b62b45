#include "telemetry/loss_picture.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.h"
#include "core/strings.h"
#include "core/table.h"
#include "telemetry/chart.h"
#include "telemetry/chart_points.h"

namespace bertpretrain {
namespace {

/// The mean loss of the steps from `next` on up to `until`, which are then behind `next`; "-" when there are none.
std::string mean_training_loss(const std::vector<StepRecord>& steps, std::size_t& next, std::int64_t until) {
    double sum = 0;
    std::int64_t count = 0;
    for (; next < steps.size() && steps[next].step <= until; ++next) {
        if (!std::isfinite(steps[next].mlm_loss)) continue;
        sum += steps[next].mlm_loss;
        ++count;
    }
    return count > 0 ? fixed(sum / static_cast<double>(count), 4) : "-";
}

}  // namespace

std::string loss_picture(const Metrics& metrics, const LossPictureOptions& options) {
    if (metrics.steps.empty()) throw DataError("the metrics hold no step yet: nothing to draw; train first");
    ChartPoints training, held_out;
    for (const StepRecord& record : metrics.steps) training.emplace_back(record.step, record.mlm_loss);
    for (const EvaluationRecord& record : metrics.evaluations) held_out.emplace_back(record.step, record.mlm_loss);

    Chart chart{options.title, "optimizer step", "loss per masked token (nats)", {}, {}};
    if (options.smoothing_steps > 1) {
        chart.lines.push_back({"", "#c6dbef", thinned(training), 1, false});
        training = smoothed(training, static_cast<std::size_t>(options.smoothing_steps));
    }
    const std::string mean = options.smoothing_steps > 1 ? concat(", mean of ", options.smoothing_steps, " steps") : "";
    chart.lines.push_back({"training" + mean, "#1f77b4", thinned(training), 1.5, false});
    if (!held_out.empty()) chart.lines.push_back({"held-out", "#d62728", held_out, 2, true});
    if (options.unigram_loss)
        chart.levels.push_back({"word frequencies alone: " + fixed(*options.unigram_loss, 2), *options.unigram_loss});
    return svg_text(chart);
}

std::string loss_table(const Metrics& metrics) {
    Table table({"step", "training mlm loss", "held-out mlm loss", "held-out accuracy", "held-out perplexity"});
    std::size_t next = 0;
    for (const EvaluationRecord& record : metrics.evaluations)
        table.add({with_thousands(record.step), mean_training_loss(metrics.steps, next, record.step), fixed(record.mlm_loss, 4),
                   fixed(record.mlm_accuracy, 4), fixed(record.perplexity, 1)});
    return table.text();
}

}  // namespace bertpretrain
