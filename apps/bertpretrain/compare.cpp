// bertpretrain compare A B: two runs, or two files of vectors

#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"

#include "archive/row_ids.h"
#include "config/write.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "plan/experiment_config.h"
#include "reports/run_comparison.h"
#include "reports/vector_comparison.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
    std::string a, b, svg;
    double bound = 0.001;
    bool json = false;
};

/// Returns the settings that differ between the runs, except those that only describe the experiment.
std::vector<Difference> settings_that_differ(const CompareArguments& arguments) {
    std::vector<Difference> differences = compare_configs(load_experiment(RunPaths(arguments.a).settings(), {}),
                                                          load_experiment(RunPaths(arguments.b).settings(), {}));
    std::erase_if(differences, [](const Difference& one) { return one.path == "about"; });
    return differences;
}

/// JSON has no infinity: null.
nlohmann::ordered_json json_of(const LossPair& pair) {
    const double difference = pair.relative_difference();
    nlohmann::ordered_json out{{"step", pair.step}, {"a", pair.a}, {"b", pair.b}, {"relative_difference", nullptr}};
    if (std::isfinite(difference)) out["relative_difference"] = difference;
    return out;
}

std::string json_text(const RunComparison& comparison, const std::vector<Difference>& settings, double bound) {
    nlohmann::ordered_json out{{"alike", comparison.alike(bound)}, {"bound", bound}};
    out["worst_held_out"] = json_of(comparison.worst_held_out());
    out["held_out"] = nlohmann::ordered_json::array();
    for (const LossPair& pair : comparison.held_out) out["held_out"].push_back(json_of(pair));
    out["training"] = {{"steps", comparison.training.size()}, {"equal_steps", comparison.equal_training_steps()}};
    if (const auto worst = comparison.worst_training()) out["training"]["worst"] = json_of(*worst);
    out["settings"] = nlohmann::ordered_json::array();
    for (const Difference& one : settings)
        out["settings"].push_back({{"setting", one.path}, {"a", one.value_a}, {"b", one.value_b}});
    return out.dump(2) + "\n";
}

std::string text(const RunComparison& comparison, const std::vector<Difference>& settings, double bound) {
    std::string out;
    if (!settings.empty()) {
        Table table({"setting", comparison.name_a, comparison.name_b});
        for (const Difference& one : settings) table.add({one.path, one.value_a, one.value_b});
        out += table.text() + "\n";
    }
    const std::vector<std::vector<std::string>> rows = comparison_rows(comparison);
    Table table(rows.front());
    for (std::size_t r = 1; r < rows.size(); ++r) table.add(rows[r]);
    out += table.text() + "\n";
    if (const auto worst = comparison.worst_training())
        out +=
            concat("training loss: equal to the bit in ", comparison.equal_training_steps(), " of ", comparison.training.size(),
                   " steps; largest difference ", percent_text(worst->relative_difference()), " at step ", worst->step, "\n");
    const LossPair& worst = comparison.worst_held_out();
    return out + concat("held-out loss: largest difference ", percent_text(worst.relative_difference()), " at step ", worst.step,
                        ", ", comparison.alike(bound) ? "within" : "above", " the bound of ", 100 * bound,
                        " %: ", comparison.alike(bound) ? "alike" : "different", "\n");
}

std::string json_text(const VectorComparison& comparison, const std::optional<IdDifference>& ids, double bound) {
    nlohmann::ordered_json out{{"alike", comparison.alike(bound)},
                               {"bound", bound},
                               {"rows", comparison.shape.rows},
                               {"columns", comparison.shape.columns},
                               {"mean_cosine", comparison.mean_cosine},
                               {"lowest_cosine", comparison.lowest_cosine},
                               {"lowest_row", comparison.lowest_row},
                               {"queries", comparison.queries},
                               {"compared_rows", comparison.compared_rows},
                               {"same_nearest", comparison.same_nearest},
                               {"shared_nearest", comparison.shared_nearest},
                               {"rank_correlation", comparison.rank_correlation}};
    if (ids) out["other_ids"] = {{"row", ids->row}, {"a", ids->a}, {"b", ids->b}, {"is_other_order", ids->is_other_order}};
    return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Says that equal rows are not of the same text.
std::string text(const IdDifference& ids) {
    return concat("ids: ", ids.is_other_order ? "the files have the same ids in another order" : "the files have other ids",
                  ", so equal rows are vectors of different texts; the first such row is ", ids.row, " (from 0), with the ids \"",
                  displayable(ids.a), "\" and \"", displayable(ids.b), "\"\n  do: embed the same records in the same order\n");
}

std::string text(const VectorComparison& comparison, const std::optional<IdDifference>& ids, double bound) {
    constexpr int digits = 6;
    Table table({"measure", "value"});
    table.add({"rows", with_thousands(comparison.shape.rows)});
    table.add({"columns", with_thousands(comparison.shape.columns)});
    table.add({"mean cosine", fixed(comparison.mean_cosine, digits)});
    table.add({"lowest cosine", fixed(comparison.lowest_cosine, digits)});
    if (comparison.queries > 0) {
        table.add({"same nearest row, %", fixed(100 * comparison.same_nearest, 2)});
        table.add({"shared of the ten nearest, %", fixed(100 * comparison.shared_nearest, 2)});
        table.add({"rank correlation", fixed(comparison.rank_correlation, digits)});
        table.add({"queries", concat(comparison.queries, " among ", with_thousands(comparison.compared_rows), " rows")});
    }
    const bool alike = comparison.alike(bound);
    return concat(table.text(), "\nvectors: lowest cosine ", fixed(comparison.lowest_cosine, digits), " at row ",
                  comparison.lowest_row, " (from 0), ", alike ? "within" : "below", " the bound of 1 - ", bound, ": ",
                  alike ? "alike" : "different", "\n", ids ? text(*ids) : "");
}

int compare_files(const CompareArguments& arguments) {
    if (!arguments.svg.empty())
        throw ConfigError("--svg: draws the losses of two runs; there is no chart of two files of vectors\n  do: leave it out");
    const VectorComparison comparison =
        compare_vectors(arguments.a, *VectorReader::open(arguments.a), arguments.b, *VectorReader::open(arguments.b));
    const std::optional<IdDifference> ids = first_id_difference(arguments.a, arguments.b, comparison.shape.rows);
    std::cout << (arguments.json ? json_text(comparison, ids, arguments.bound) : text(comparison, ids, arguments.bound))
              << std::flush;
    return static_cast<int>(comparison.alike(arguments.bound) ? ExitCode::done : ExitCode::numbers);
}

int compare(const CompareArguments& arguments) {
    const bool is_file_a = fs::is_regular_file(arguments.a), is_file_b = fs::is_regular_file(arguments.b);
    if (is_file_a != is_file_b)
        throw ConfigError(concat(is_file_a ? arguments.b : arguments.a, ": is not a file, but the other one is\n  do: name two ",
                                 "run folders, or two files of vectors"));
    if (is_file_a) return compare_files(arguments);
    for (const std::string& run : {arguments.a, arguments.b}) require_no_phases(run);
    const std::vector<RunHistory> runs = read_runs({arguments.a, arguments.b});
    const RunComparison comparison = compare_runs(runs[0], runs[1]);
    const std::vector<Difference> settings = settings_that_differ(arguments);
    std::cout << (arguments.json ? json_text(comparison, settings, arguments.bound) : text(comparison, settings, arguments.bound))
              << std::flush;
    if (!arguments.svg.empty()) {
        write_atomically(arguments.svg, svg_text(comparison_chart(comparison, arguments.bound)));
        log_info(concat("chart: ", arguments.svg));
    }
    return static_cast<int>(comparison.alike(arguments.bound) ? ExitCode::done : ExitCode::numbers);
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
    const auto arguments = std::make_shared<CompareArguments>();
    CLI::App* command = app.add_subcommand(
        "compare", "Decides whether two runs have the same held-out losses, or two files the same vectors; exit code 6 if not");
    command
        ->add_option("a", arguments->a, "The run's folder, or the file of vectors (embed), that the other one is compared with")
        ->required();
    command->add_option("b", arguments->b, "The other run's folder, or the other file")->required();
    command
        ->add_option(
            "--bound", arguments->bound,
            "For runs that are alike, the largest relative difference of the held-out MLM loss at any step; for files, the "
            "largest 1 - cosine of a row")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command->add_flag("--json", arguments->json, "Print everything as one JSON object");
    command->add_option("--svg", arguments->svg, "Write a chart of the differences into this SVG file");
    command->callback([arguments, &exit_code] { exit_code = compare(*arguments); });
}

}  // namespace bertpretrain
