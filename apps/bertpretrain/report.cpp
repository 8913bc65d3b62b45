// bertpretrain report RUN...

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/output/table.h"
#include "reports/held_out_data.h"
#include "reports/report_json.h"
#include "reports/report_page.h"
#include "reports/run_charts.h"
#include "reports/scaling.h"
#include "reports/setting_differences.h"
#include "reports/time_shares.h"

namespace bertpretrain {
namespace {

struct ReportArguments {
    std::vector<std::string> runs;
    std::string output, svg_folder, target;
    std::vector<std::string> references;
    std::vector<std::string> prices;
    bool scaling = false, json = false;
};

void print(const std::vector<std::vector<std::string>>& rows) {
    Table table(rows.front());
    for (std::size_t r = 1; r < rows.size(); ++r) table.add(rows[r]);
    std::cout << table.text() << std::flush;
}

void write_charts(const std::filesystem::path& folder, const std::vector<RunHistory>& runs, const ReportChoices& choices) {
    make_writable_folder(folder);
    std::vector<NamedChart> charts = run_charts(runs, choices.references);
    if (choices.scaling) std::ranges::move(scaling_charts(scaling_points(runs)), std::back_inserter(charts));
    for (const NamedChart& chart : charts) write_atomically(folder / (chart.name + ".svg"), svg_text(chart.chart));
    log_info(concat(charts.size(), " charts: ", folder.string()));
}

void print_tables(const std::vector<RunHistory>& runs, const ReportChoices& choices) {
    print(summary_rows(runs, choices.prices));
    if (const std::string labels = explain_held_out_labels(runs); !labels.empty()) std::cout << labels << "\n";
    const auto titled = [](const std::string& title, const std::vector<std::vector<std::string>>& rows) {
        std::cout << "\n" << title << "\n\n";
        print(rows);
    };
    if (const auto rows = shortened_rows(setting_differences(runs)); rows.size() > 1) titled("settings that differ", rows);
    if (choices.target)
        titled(concat("until ", choices.target->key, " = ", choices.target->value),
               target_rows(runs, *choices.target, choices.prices));
    if (choices.scaling) titled("scaling", scaling_rows(scaling_points(runs)));
    if (!choices.references.empty()) titled("beside published curves", reference_rows(runs, choices.references));
}

void report(const ReportArguments& arguments) {
    ReportChoices choices;
    if (!arguments.target.empty()) choices.target = Target::parse(arguments.target);
    choices.prices = HourlyPrices::parse(arguments.prices);
    choices.scaling = arguments.scaling;
    for (const std::string& file : arguments.references) choices.references.push_back(read_reference(file));
    const std::vector<RunHistory> runs = read_runs(arguments.runs);
    choices.prices.require_runs(runs);
    if (arguments.json) {
        std::cout << report_json(runs, choices).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
    } else {
        print_tables(runs, choices);
    }
    for (const RunHistory& run : runs)
        if (const auto flag = low_utilisation(run, time_shares(run))) log_warning(*flag);
    if (!arguments.svg_folder.empty()) write_charts(arguments.svg_folder, runs, choices);
    if (arguments.output.empty()) return;
    write_atomically(arguments.output, report_page(runs, choices));
    log_info(concat("report: ", arguments.output));
}

}  // namespace

void add_report_command(CLI::App& app) {
    const auto arguments = std::make_shared<ReportArguments>();
    CLI::App* command = app.add_subcommand("report", "Compares runs: tables, charts, cost and scaling");
    command->add_option("runs", arguments->runs, "Run folders, or folders with runs below them; the runs may still be training")
        ->required();
    command->add_option("--output", arguments->output, "Write everything to one HTML page, which needs no network");
    command->add_option("--svg", arguments->svg_folder, "Write every chart as an SVG file into this folder");
    command->add_option(
        "--target", arguments->target,
        "KEY=NUMBER, a value of metrics.jsonl: print how long each run took to reach it first, restarts included");
    command->add_option(
        "--price", arguments->prices,
        "Price of an accelerator per hour, such as 2.50 or 2.50EUR: print what each run cost, and reaching the target. "
        "RUN=PRICE is for one run; repeat the option for several");
    command->add_option("--reference", arguments->references,
                        "A file with the columns step and loss: print and draw this published curve beside the runs' loss");
    command->add_flag("--scaling", arguments->scaling, "Print rates and efficiency of runs on different numbers of accelerators");
    command->add_flag("--json", arguments->json, "Print the figures, and the settings that differ, as a JSON object");
    command->callback([arguments] { report(*arguments); });
}

}  // namespace bertpretrain
