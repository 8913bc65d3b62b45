#include "telemetry/metrics_file.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

template <class Record>
std::string line_of(const Record& record) {
    nlohmann::ordered_json line;
    bool all_finite = true;
    Record::fields(record, [&](const char* key, const auto& value) {
        const bool finite = std::isfinite(static_cast<double>(value));
        all_finite = all_finite && finite;
        line[key] = finite ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
    });
    if (!all_finite) line["non_finite"] = true;
    return line.dump();
}

/// The member `key`: NaN for null, absent members stay as they are. @throws json::exception for another type
void read_member(const json& line, const char* key, auto& value) {
    const auto found = line.find(key);
    if (found == line.end()) return;
    using Value = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_floating_point_v<Value>) {
        value = found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->template get<double>();
    } else {
        value = found->template get<Value>();
    }
}

template <class Record>
Record record_of(const json& line) {
    Record record;
    Record::fields(record, [&](const char* key, auto& value) { read_member(line, key, value); });
    return record;
}

bool is_evaluation(const json& line) { return line.contains("held_out_mlm_loss"); }

/// Calls visit(line, its JSON) for each whole line; those without a step are passed over with one warning.
void for_each_line(const std::filesystem::path& file, const std::string& content,
                   const std::function<void(std::string_view, const json&)>& visit) {
    std::int64_t number = 0, unreadable = 0, first_unreadable = 0;
    std::size_t end = 0;
    for (std::size_t start = 0; (end = content.find('\n', start)) != std::string::npos; start = end + 1) {
        const std::string_view line = std::string_view(content).substr(start, end - start);
        ++number;
        try {
            const json parsed = json::parse(line);
            if (!parsed.at("step").is_number_integer()) throw DataError("no step");
            visit(line, parsed);
        } catch (const std::exception&) {
            if (unreadable++ == 0) first_unreadable = number;
        }
    }
    if (unreadable > 0)
        log_warning(concat(file.string(), ": ", unreadable, " damaged line(s) left out, the first is line ", first_unreadable));
}

}  // namespace

void MetricsFile::append(const StepRecord& record) { lines_->append(line_of(record)); }
void MetricsFile::append(const EvaluationRecord& record) { lines_->append(line_of(record)); }

CutSteps MetricsFile::cut_to_step(std::int64_t step, std::int64_t evaluated) {
    const std::filesystem::path file = lines_->path();
    const std::string content = read_file(file);
    std::string kept;
    CutSteps cut;
    for_each_line(file, content, [&](std::string_view line, const json& parsed) {
        if (parsed.at("step").get<std::int64_t>() <= (is_evaluation(parsed) ? std::min(step, evaluated) : step)) {
            kept.append(line).append("\n");
        } else if (!is_evaluation(parsed)) {
            ++cut.steps;
            read_member(parsed, "time", cut.time);
        }
    });
    if (kept.size() == content.size()) return cut;
    write_atomically(file, kept);
    lines_.emplace(file);  // the old handle belongs to the replaced file
    return cut;
}

Metrics read_metrics(const std::filesystem::path& file) {
    Metrics metrics;
    for_each_line(file, read_file(file), [&](std::string_view, const json& line) {
        if (is_evaluation(line)) metrics.evaluations.push_back(record_of<EvaluationRecord>(line));
        else metrics.steps.push_back(record_of<StepRecord>(line));
    });
    return metrics;
}

}  // namespace bertpretrain
