#include "reports/source_losses.h"

#include <algorithm>

#include "core/output/displayable.h"
#include "core/strings.h"
#include "telemetry/chart_points.h"

namespace bertpretrain {
namespace {

/// A source's records, with the steps that they belong to.
struct SourceHistory {
    std::string name;
    std::vector<std::int64_t> steps;
    std::vector<SourceRecord> records;
    ChartPoints held_out;  ///< step, MLM loss
};

/// (step, MLM loss) of each evaluation of a source.
ChartPoints held_out_losses(const RunHistory& run, const std::string& source) {
    ChartPoints losses;
    for (const EvaluationRecord& evaluation : run.metrics.evaluations)
        for (const HeldOutSourceRecord& record : evaluation.sources)
            if (record.name == source) losses.emplace_back(static_cast<double>(evaluation.step), record.mlm_loss);
    return losses;
}

/// The sources of a run, in the order of their first samples.
std::vector<SourceHistory> sources_of(const RunHistory& run) {
    std::vector<SourceHistory> sources;
    for (const StepRecord& step : run.metrics.steps)
        for (const SourceRecord& record : step.sources) {
            auto source = std::ranges::find(sources, record.name, &SourceHistory::name);
            if (source == sources.end())
                source = sources.insert(source, SourceHistory{record.name, {}, {}, held_out_losses(run, record.name)});
            source->steps.push_back(step.step);
            source->records.push_back(record);
        }
    return sources;
}

double mean_of_last(const SourceHistory& source, double SourceRecord::*loss) {
    const std::size_t count = std::clamp<std::size_t>(source.records.size() / 10, 1, 100);
    double sum = 0;
    for (std::size_t i = source.records.size() - count; i < source.records.size(); ++i) sum += source.records[i].*loss;
    return sum / static_cast<double>(count);
}

}  // namespace

std::vector<std::vector<std::string>> source_rows(const std::vector<RunHistory>& runs) {
    std::vector<std::vector<std::string>> rows{
        {"run", "source", "part of the samples", "samples", "epochs", "mlm loss", "nsp loss", "last held-out mlm loss"}};
    for (const RunHistory& run : runs)
        for (const SourceHistory& source : sources_of(run)) {
            const SourceRecord& last = source.records.back();
            const auto all = static_cast<double>(std::max<std::int64_t>(1, run.metrics.steps.back().samples));
            rows.push_back({run.name, displayable(source.name), fixed(100 * static_cast<double>(last.samples) / all, 2) + " %",
                            with_thousands(last.samples), fixed(last.epochs, 2),
                            fixed(mean_of_last(source, &SourceRecord::mlm_loss), 4),
                            last.next_sentence ? fixed(mean_of_last(source, &SourceRecord::nsp_loss), 4) : "-",
                            source.held_out.empty() ? "-" : fixed(source.held_out.back().second, 4)});
        }
    if (rows.size() == 1) rows.clear();
    return rows;
}

std::optional<Chart> source_loss_chart(const std::vector<RunHistory>& runs) {
    std::size_t count = 0;
    Chart chart{"Masked-word loss of each source", "optimizer step", "nats per masked token", {}, {}};
    chart.y_most = most_mlm_loss;
    for (const RunHistory& run : runs)
        for (const SourceHistory& source : sources_of(run)) {
            ChartPoints points;
            for (std::size_t i = 0; i < source.steps.size(); ++i)
                points.emplace_back(static_cast<double>(source.steps[i]), source.records[i].mlm_loss);
            points = smoothed(points, std::max<std::size_t>(1, points.size() / 100));
            const char* color = chart_colors[count++ % chart_colors.size()];
            const std::string name = (runs.size() > 1 ? run.name + ", " : "") + displayable(source.name);
            chart.lines.push_back({name, color, thinned(points), 1.5, false});
            if (!source.held_out.empty()) chart.lines.push_back({name + ", held-out", color, thinned(source.held_out), 2, true});
        }
    if (chart.lines.empty()) return std::nullopt;
    return chart;
}

}  // namespace bertpretrain
