#include "reports/report_page.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/output/markup.h"
#include "core/strings.h"
#include "reports/held_out_data.h"
#include "reports/run_charts.h"
#include "reports/scaling.h"
#include "reports/setting_differences.h"
#include "reports/source_losses.h"
#include "reports/time_shares.h"

namespace bertpretrain {
namespace {

constexpr const char* style =
    ":root{color-scheme:light dark}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:84em;margin:2em auto;padding:0 1em;background:#fff;color:#222;"
    "overflow-wrap:anywhere}"
    "table{border-collapse:collapse;margin:1em 0}th,td{padding:.25em .6em;border-bottom:1px solid #8884;text-align:right;"
    "overflow-wrap:normal}td{white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left}.scroll{overflow-x:auto}"
    ".flag{border-left:4px solid #d98a00;background:#d98a0018;padding:.5em 1em;margin:.6em 0}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26em,100%),1fr));gap:1em}"
    ".charts figure{margin:0}.charts svg{width:100%;height:auto;display:block;border:1px solid #8883;border-radius:6px}"
    ".run{display:flex;justify-content:space-between;gap:1em;margin-top:.6em}.run b{font-weight:normal}"
    ".run span{white-space:nowrap}"
    ".bar{display:flex;height:1.2em;border-radius:3px;overflow:hidden}.bar i{display:block;height:100%}"
    ".times{max-width:40em}.key span{white-space:nowrap;margin-right:1em}"
    ".key i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.35em}"
    ".note{max-width:60em}"
    "@media (prefers-color-scheme:dark){body{background:#0f1114;color:#d7dade}}";

/// Three shares that are easily mistaken for each other.
constexpr const char* explanation =
    "<p class=\"note\">Time computing is the share of the run's time spent in steps, without waiting for data and other ranks; "
    "starting, saving and evaluating are not part of it. Device utilization is the share of the time in which rank 0's "
    "device was busy, fast or slow. MFU is the model's FLOP/s as a share of the matmul rate that was measured at the "
    "start.</p>\n";

struct Part {
    const char* name;
    const char* color;
    double TimeShares::*seconds;
};
constexpr Part parts[]{{"computing", "#2ca02c", &TimeShares::computing},
                       {"waiting for data", "#ff7f0e", &TimeShares::data},
                       {"waiting for ranks", "#d62728", &TimeShares::communication},
                       {"evaluating", "#9467bd", &TimeShares::evaluating},
                       {"saving", "#17becf", &TimeShares::saving},
                       {"starting", "#8c564b", &TimeShares::starting},
                       {"lost", "#7f7f7f", &TimeShares::lost}};

std::string table(const std::vector<std::vector<std::string>>& rows) {
    std::string html = "<div class=\"scroll\"><table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const char* tag = r == 0 ? "th" : "td";
        html += "<tr>";
        for (const std::string& cell : rows[r]) html += concat("<", tag, ">", escape_markup(cell), "</", tag, ">");
        html += "</tr>\n";
    }
    return html + "</table></div>\n";
}

std::string time_bars(const std::vector<RunHistory>& runs) {
    std::string html = "<h2>Where the time went</h2>\n<p class=\"key\">";
    for (const Part& part : parts) html += concat("<span><i style=\"background:", part.color, "\"></i>", part.name, "</span> ");
    html += "</p>\n<div class=\"times\">\n";
    for (const RunHistory& run : runs) {
        const TimeShares shares = time_shares(run);
        html += concat("<div class=\"run\"><b>", escape_markup(run.name), "</b><span>", duration_text(shares.total()),
                       "</span></div><div class=\"bar\">");
        for (const Part& part : parts) {
            const std::string percent = fixed(shares.total() > 0 ? 100 * shares.*part.seconds / shares.total() : 0, 2);
            html += concat("<i style=\"width:", percent, "%;background:", part.color, "\" title=\"", part.name, " ", percent,
                           " %\"></i>");
        }
        html += "</div>\n";
    }
    return html + "</div>\n";
}

std::string note(const std::string& text) { return text.empty() ? "" : concat("<p>", escape_markup(text), "</p>\n"); }

std::string flags(const std::vector<RunHistory>& runs) {
    std::string html;
    for (const RunHistory& run : runs)
        if (const auto flag = low_utilisation(run, time_shares(run)))
            html += concat("<p class=\"flag\">", escape_markup(*flag), "</p>\n");
    return html;
}

std::string figures(const std::vector<NamedChart>& charts) {
    std::string html = "<div class=\"charts\">\n";
    for (const NamedChart& chart : charts)
        html += concat("<figure id=\"", chart.name, "\">", svg_text(chart.chart), "</figure>\n");
    return html + "</div>\n";
}

std::string scaling_part(const std::vector<RunHistory>& runs) {
    const std::vector<ScalingPoint> points = scaling_points(runs);
    return concat("<h2>Scaling</h2>\n", table(scaling_rows(points)), figures(scaling_charts(points)));
}

/// Returns "15 of 400", and how the run ended if it did not finish, with the first line of the cause.
std::string steps_text(const RunHistory& run) {
    std::string text = with_thousands(run.metrics.steps.back().step);
    if (run.total_steps > 0) text += " of " + with_thousands(run.total_steps);
    if (!run.exit) return text;
    return concat(text, ", exit ", run.exit->code, ": ", displayable(shortened(first_line(run.exit->cause))));
}

std::optional<ProbeRecord> last_probe(const RunHistory& run) {
    std::optional<ProbeRecord> last;
    for (const EvaluationRecord& evaluation : run.metrics.evaluations)
        if (evaluation.probe) last = evaluation.probe;
    return last;
}

std::string probe_text(const std::optional<ProbeRecord>& probe) {
    if (!probe) return "-";
    return concat(fixed(100 * probe->accuracy, 2), " % (", fixed(100 * probe->accuracy_low, 2), " to ",
                  fixed(100 * probe->accuracy_high, 2), ")");
}

}  // namespace

std::vector<std::vector<std::string>> summary_rows(const std::vector<RunHistory>& runs, const HourlyPrices& prices) {
    const bool probed = std::any_of(runs.begin(), runs.end(), [](const RunHistory& run) { return last_probe(run).has_value(); });
    std::vector<std::vector<std::string>> rows{{"run", "ranks", "steps", "sequences", "mlm loss", "best held-out", "sequences/s",
                                                "TFLOP/s", "time", "accelerator time", "restarts", "time computing"}};
    if (!prices.empty()) rows.front().emplace_back("cost");
    if (probed) rows.front().emplace_back("last probe");
    const std::vector<std::string> held_out = best_held_out_texts(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const RunHistory& run = runs[i];
        const StepRecord& last = run.metrics.steps.back();
        const Spent spent = spent_until(run, INFINITY);
        rows.push_back({run.name, std::to_string(run.sessions.back().ranks), steps_text(run), with_thousands(last.samples),
                        fixed(last_training_loss(run), 4), held_out[i], fixed(steady_rate(run), 2), fixed(steady_tflops(run), 3),
                        duration_text(spent.seconds), duration_text(spent.accelerator_seconds), std::to_string(run.restarts()),
                        fixed(100 * time_shares(run).utilisation(), 1) + " %"});
        if (!prices.empty()) rows.back().push_back(cost_text(prices.cost_of(run, spent)));
        if (probed) rows.back().push_back(probe_text(last_probe(run)));
    }
    return rows;
}

std::string report_page(const std::vector<RunHistory>& runs, const ReportChoices& choices) {
    std::ostringstream page;
    page << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         << "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>Training report</title><style>"
         << style << "</style></head><body>\n<h1>Training report</h1>\n"
         << table(summary_rows(runs, choices.prices)) << note(explain_held_out_labels(runs)) << flags(runs);
    if (const auto rows = shortened_rows(setting_differences(runs)); rows.size() > 1)
        page << "<h2>Settings that differ</h2>\n" << table(rows);
    if (choices.target)
        page << "<h2>Until " << escape_markup(choices.target->key) << " = " << choices.target->value << "</h2>\n"
             << table(target_rows(runs, *choices.target, choices.prices));
    if (choices.scaling) page << scaling_part(runs);
    if (!choices.references.empty())
        page << "<h2>Beside published curves</h2>\n" << table(reference_rows(runs, choices.references));
    if (const auto rows = source_rows(runs); !rows.empty()) page << "<h2>Sources</h2>\n" << table(rows);
    page << time_bars(runs) << "<h2>Charts</h2>\n"
         << explanation << figures(run_charts(runs, choices.references)) << "</body></html>\n";
    return page.str();
}

}  // namespace bertpretrain
