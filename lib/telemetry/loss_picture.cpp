#include "telemetry/loss_picture.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "telemetry/chart.h"
#include "telemetry/chart_points.h"

namespace bertpretrain {

std::string loss_picture(const LossHistory& history, const LossPictureOptions& options) {
    ChartPoints training = history.training(), held_out;
    if (training.empty()) throw DataError("the metrics contain no step yet, so there is nothing to draw; train first");
    for (const EvaluatedLoss& one : history.evaluations()) held_out.emplace_back(one.evaluation.step, one.evaluation.mlm_loss);

    Chart chart{options.title, "optimizer step", "loss per masked token (nats)", {}, {}};
    chart.y_most = most_mlm_loss;
    if (options.smoothing_steps > 1) {
        chart.lines.push_back({"", "#c6dbef", thinned(training), 1, false});
        const std::size_t steps = history.steps_per_point();
        training = smoothed(training, std::max<std::size_t>(1, static_cast<std::size_t>(options.smoothing_steps) / steps));
    }
    const std::string mean = options.smoothing_steps > 1 ? concat(", mean of ", options.smoothing_steps, " steps") : "";
    chart.lines.push_back({"training" + mean, "#1f77b4", thinned(training), 1.5, false});
    if (!held_out.empty()) chart.lines.push_back({"held-out", "#d62728", held_out, 2, true});
    if (options.unigram_loss)
        chart.levels.push_back({"word frequencies alone: " + fixed(*options.unigram_loss, 2), *options.unigram_loss});
    return svg_text(chart);
}

std::string loss_table(const LossHistory& history) {
    Table table({"step", "training mlm loss", "held-out mlm loss", "held-out accuracy", "held-out perplexity"});
    for (const EvaluatedLoss& one : history.evaluations()) {
        const EvaluationRecord& record = one.evaluation;
        const std::string training =
            one.training_steps > 0 ? fixed(one.training_loss_sum / static_cast<double>(one.training_steps), 4) : "-";
        table.add({with_thousands(record.step), training, fixed(record.mlm_loss, 4), fixed(record.mlm_accuracy, 4),
                   fixed(record.perplexity, 1)});
    }
    return table.text();
}

}  // namespace bertpretrain
