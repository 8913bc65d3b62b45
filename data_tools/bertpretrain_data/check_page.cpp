// Builds the page of `check --html`.

#include <algorithm>
#include <array>
#include <sstream>

#include "check_report.h"

#include "core/error.h"
#include "core/output/markup.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr const char* style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}th,td{padding:.2em .8em;border-bottom:1px solid #ddd;text-align:right}"
    "th:first-child,td:first-child{text-align:left}.bad{color:#b00020;font-weight:600}.good{color:#1b7f3b}"
    "li{white-space:pre-line}figure{margin:1.5em "
    "0}figcaption{font-weight:600}svg{width:100%;height:auto}text{font-size:11px;fill:#555}";

std::string percent(double share) { return fixed(100 * share, 2) + " %"; }

std::string percent(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? percent(static_cast<double>(part) / static_cast<double>(whole)) : "unknown";
}

std::string row(const std::vector<std::string>& cells, const char* tag = "td") {
    std::string line = "<tr>";
    for (const std::string& cell : cells) line += concat("<", tag, ">", cell, "</", tag, ">");
    return line + "</tr>\n";
}

std::vector<std::string> cells(const std::string& name, const ShardContent& content) {
    return {escape_markup(name),
            with_thousands(content.rows),
            with_thousands(content.tokens),
            fixed(content.mean_length(), 1),
            percent(content.masking_rate()),
            concat(percent(content.mask_share()), " / ", percent(content.unchanged_share())),
            content.labelled > 0 ? percent(content.random_next_share()) : "no labels"};
}

/// A histogram reduced to at most 64 bars.
struct Bars {
    std::int64_t width = 1;  ///< histogram entries per bar
    std::vector<std::int64_t> counts;
};

Bars bars_of(const std::vector<std::int64_t>& histogram) {
    constexpr std::int64_t most = 64;
    Bars bars;
    bars.width = std::max<std::int64_t>(1, (static_cast<std::int64_t>(histogram.size()) + most - 1) / most);
    for (std::size_t place = 0; place < histogram.size(); ++place) {
        if (place % static_cast<std::size_t>(bars.width) == 0) bars.counts.push_back(0);
        bars.counts.back() += histogram[place];
    }
    return bars;
}

std::string picture(const std::string& title, const std::string& unit, const std::vector<std::int64_t>& histogram,
                    std::int64_t rows) {
    constexpr double width = 800, height = 180, base = 160;
    const Bars bars = bars_of(histogram);
    if (bars.counts.empty() || rows == 0) return {};
    const auto tallest = static_cast<double>(*std::max_element(bars.counts.begin(), bars.counts.end()));
    const double bar = width / static_cast<double>(bars.counts.size());
    std::ostringstream svg;
    svg << "<figure><figcaption>" << escape_markup(title) << "</figcaption><svg viewBox=\"0 0 " << width << ' ' << height
        << "\" role=\"img\">";
    for (std::size_t i = 0; i < bars.counts.size(); ++i) {
        const double tall = 140 * static_cast<double>(bars.counts[i]) / tallest;
        const std::int64_t first = static_cast<std::int64_t>(i) * bars.width, last = first + bars.width - 1;
        const std::string range = bars.width == 1 ? concat(first) : concat(first, " to ", last);
        const double share = static_cast<double>(bars.counts[i]) / static_cast<double>(rows);
        svg << "<rect x=\"" << fixed(static_cast<double>(i) * bar, 1) << "\" y=\"" << fixed(base - tall, 1) << "\" width=\""
            << fixed(bar * 0.9, 1) << "\" height=\"" << fixed(tall, 1) << "\" fill=\"#1f77b4\"><title>" << range << ' ' << unit
            << ": " << with_thousands(bars.counts[i]) << " rows, " << percent(share) << "</title></rect>";
    }
    const std::size_t step = std::max<std::size_t>(1, bars.counts.size() / 8);
    for (std::size_t i = 0; i < bars.counts.size(); i += step)
        svg << "<text x=\"" << fixed(static_cast<double>(i) * bar, 1) << "\" y=\"" << height - 5 << "\">"
            << static_cast<std::int64_t>(i) * bars.width << "</text>";
    svg << "<text x=\"" << width
        << "\" y=\"12\" text-anchor=\"end\">tallest bar: " << with_thousands(static_cast<std::int64_t>(tallest))
        << " rows</text></svg></figure>\n";
    return svg.str();
}

std::string histograms(const std::string& name, const ShardContent& content) {
    return picture(name + " rows by length in tokens", "tokens", content.rows_by_length, content.rows) +
           picture(name + " rows by percent of tokens masked", "%", content.rows_by_masking, content.rows);
}

std::string problem_list(const FolderReport& report) {
    if (report.problems.empty()) return "<p class=\"good\">No problems found.</p>\n";
    std::string list = concat("<p class=\"bad\">", report.problems.size(), " problem(s):</p><ul>\n");
    for (const std::string& problem : report.problems) list += "<li>" + escape_markup(problem) + "</li>\n";
    return list + "</ul>\n";
}

std::string facts(const FolderReport& report) {
    const Duplicates& duplicates = report.duplicates;
    std::string table = "<table>\n";
    table += row({"manifest", report.has_manifest ? "found; checksums were compared" : "none; checksums were not compared"});
    table += row({"version of the rules", report.rules_version ? concat(*report.rules_version) : "unknown"});
    table += row({"vocabulary", report.vocabulary_size ? with_thousands(*report.vocabulary_size) + " tokens" : "unknown"});
    table += row({"rows equal to another", with_thousands(duplicates.rows)});
    table += row({"rows whose text equals another's, ignoring masks", with_thousands(duplicates.texts)});
    table += row({"held-out rows whose text is also trained on", with_thousands(duplicates.held_out_trained)});
    const CommonPassages& passages = report.passages;
    table += row({"held-out rows with more than half of their passages in training rows",
                  percent(passages.mostly_trained, passages.held_out_rows)});
    table += row(
        {"held-out rows with at least one passage in training rows", percent(passages.with_a_trained, passages.held_out_rows)});
    table += row({"rows of documents that occur more than once", percent(passages.mostly_repeated, passages.rows)});
    table += row({"unigram cross-entropy of the training labels", fixed(report.unigram_cross_entropy, 4) + " nats"});
    return table + "</table>\n";
}

}  // namespace

std::string check_page(const FolderReport& report, const std::string& folder) {
    std::ostringstream page;
    page << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Shards of " << escape_markup(folder)
         << "</title><style>" << style << "</style></head><body>\n<h1>Shards of " << escape_markup(folder) << "</h1>\n"
         << problem_list(report) << facts(report) << "<table>\n"
         << row({"", "rows", "tokens", "mean length", "masked", "as [MASK] / as they are", "random next"}, "th");
    if (report.training.rows > 0) page << row(cells("all training", report.training));
    if (report.held_out.rows > 0) page << row(cells("all held out", report.held_out));
    page << "</table>\n" << histograms("Training", report.training) << histograms("Held-out", report.held_out);
    page << "<table>\n"
         << row({"shard", "rows", "tokens", "mean length", "masked", "as [MASK] / as they are", "random next", "state"}, "th");
    for (const CheckedShard& shard : report.shards) {
        std::vector<std::string> line = cells(shard.file, shard.content);
        line.emplace_back(shard.is_sound ? "<span class=\"good\">sound</span>" : "<span class=\"bad\">bad</span>");
        page << row(line);
    }
    page << "</table>\n</body></html>\n";
    return page.str();
}

}  // namespace bertpretrain
