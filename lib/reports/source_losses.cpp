#include "reports/source_losses.h"

#include <algorithm>
#include <array>

#include "core/displayable.h"
#include "core/strings.h"
#include "telemetry/chart_points.h"

namespace bertpretrain {
namespace {

constexpr std::array source_colors{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2"};

/// A source's records, with the steps that they belong to.
struct SourceHistory {
    std::string name;
    std::vector<std::int64_t> steps;
    std::vector<SourceRecord> records;
};

/// The sources of a run, in the order of their first samples.
std::vector<SourceHistory> sources_of(const RunHistory& run) {
    std::vector<SourceHistory> sources;
    for (const StepRecord& step : run.metrics.steps)
        for (const SourceRecord& record : step.sources) {
            auto source = std::ranges::find(sources, record.name, &SourceHistory::name);
            if (source == sources.end()) source = sources.insert(source, SourceHistory{record.name, {}, {}});
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
        {"run", "source", "part of the samples", "samples", "epochs", "mlm loss", "nsp loss"}};
    for (const RunHistory& run : runs)
        for (const SourceHistory& source : sources_of(run)) {
            const SourceRecord& last = source.records.back();
            const auto all = static_cast<double>(std::max<std::int64_t>(1, run.metrics.steps.back().samples));
            rows.push_back({run.name, displayable(source.name), fixed(100 * static_cast<double>(last.samples) / all, 2) + " %",
                            with_thousands(last.samples), fixed(last.epochs, 2),
                            fixed(mean_of_last(source, &SourceRecord::mlm_loss), 4),
                            last.next_sentence ? fixed(mean_of_last(source, &SourceRecord::nsp_loss), 4) : "-"});
        }
    if (rows.size() == 1) rows.clear();
    return rows;
}

std::optional<Chart> source_loss_chart(const std::vector<RunHistory>& runs) {
    Chart chart{"Masked-word loss of each source", "optimizer step", "nats per masked token", {}, {}};
    for (const RunHistory& run : runs)
        for (const SourceHistory& source : sources_of(run)) {
            ChartPoints points;
            for (std::size_t i = 0; i < source.steps.size(); ++i)
                points.emplace_back(static_cast<double>(source.steps[i]), source.records[i].mlm_loss);
            points = smoothed(points, std::max<std::size_t>(1, points.size() / 100));
            const char* color = source_colors[chart.lines.size() % source_colors.size()];
            const std::string name = displayable(source.name);
            chart.lines.push_back({runs.size() > 1 ? run.name + ", " + name : name, color, thinned(points), 1.5, false});
        }
    if (chart.lines.empty()) return std::nullopt;
    return chart;
}

}  // namespace bertpretrain
