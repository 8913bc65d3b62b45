#include "reports/reference_curve.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

std::vector<std::string> cells_of(std::string line) {
    if (line.ends_with('\r')) line.pop_back();
    std::vector<std::string> cells{""};
    for (const char letter : line) {
        if (letter == ',' || letter == '\t' || letter == ';') cells.emplace_back();
        else if (letter != ' ' && letter != '"') cells.back() += letter;
    }
    return cells;
}

/// The places of the two columns in a line.
struct ReferenceColumns {
    std::size_t step = 0, loss = 0;
};

ReferenceColumns columns_of(const std::vector<std::string>& header, const std::string& where) {
    const auto place = [&](const char* name) {
        const auto found = std::find(header.begin(), header.end(), name);
        if (found == header.end())
            throw DataError(concat(where, ": has no column \"", name, "\", but ", displayable(join(header)),
                                   "; expected a header with \"step\" and \"loss\""));
        return static_cast<std::size_t>(found - header.begin());
    };
    return {place("step"), place("loss")};
}

double number_in(const std::vector<std::string>& cells, std::size_t column, const std::string& where) {
    double value = 0;
    const std::string cell = column < cells.size() ? cells[column] : "";
    const auto [end, failure] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (failure != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value))
        throw DataError(concat(where, ": has \"", displayable(cell), "\" in column ", column + 1, "; expected a number"));
    return value;
}

}  // namespace

ReferenceCurve read_reference(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in || std::filesystem::is_directory(file)) throw DataError(concat(file.string(), ": cannot be read"));
    ReferenceCurve curve{file.stem().string()};
    std::optional<ReferenceColumns> columns;
    std::int64_t number = 0;
    for (std::string line; std::getline(in, line);) {
        const std::string where = concat(file.string(), ": line ", ++number);
        if (line.starts_with('#') || line.find_first_not_of(" \t\r") == line.npos) continue;
        const std::vector<std::string> cells = cells_of(line);
        if (!columns) columns = columns_of(cells, where);
        else curve.points.emplace_back(number_in(cells, columns->step, where), number_in(cells, columns->loss, where));
    }
    if (curve.points.empty()) throw DataError(concat(file.string(), ": has no points; expected a header and lines of numbers"));
    std::stable_sort(curve.points.begin(), curve.points.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return curve;
}

double loss_near(const RunHistory& run, double step) {
    constexpr double within = 0.01;
    double sum = 0, count = 0;
    for (const StepRecord& record : run.metrics.steps) {
        if (std::fabs(static_cast<double>(record.step) - step) > within * step) continue;
        sum += record.loss;
        ++count;
    }
    return !run.metrics.steps.empty() && static_cast<double>(run.metrics.steps.back().step) >= step ? sum / count : NAN;
}

std::vector<std::vector<std::string>> reference_rows(const std::vector<RunHistory>& runs,
                                                     const std::vector<ReferenceCurve>& references) {
    std::vector<std::vector<std::string>> rows{{"reference", "step", "loss"}};
    for (const RunHistory& run : runs) rows.front().insert(rows.front().end(), {run.name, "difference"});
    for (const ReferenceCurve& reference : references)
        for (const auto& [step, loss] : reference.points) {
            std::vector<std::string> row{reference.name, fixed(step, 0), fixed(loss, 3)};
            bool reached = false;
            for (const RunHistory& run : runs) {
                const double own = loss_near(run, step);
                reached = reached || std::isfinite(own);
                row.push_back(std::isfinite(own) ? fixed(own, 3) : "-");
                row.push_back(std::isfinite(own) ? (own >= loss ? "+" : "") + fixed(own - loss, 3) : "-");
            }
            if (reached) rows.push_back(row);
        }
    return rows;
}

}  // namespace bertpretrain
