#include "telemetry/metrics_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "telemetry/metrics_chain.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

/// Adds the numbers to `line`, and returns whether all are finite.
template <class Record>
bool add_numbers(const Record& record, nlohmann::ordered_json& line) {
    bool all_finite = true;
    Record::fields(record, [&](const char* key, const auto& value) {
        const bool finite = std::isfinite(static_cast<double>(value));
        all_finite = all_finite && finite;
        line[key] = finite ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
    });
    return all_finite;
}

template <class Record>
std::string line_of(const Record& record) {
    nlohmann::ordered_json line;
    bool all_finite = add_numbers(record, line);
    for (const auto& source : record.sources) all_finite &= add_numbers(source, line["sources"][source.name]);
    if (!all_finite) line["non_finite"] = true;
    return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Reads the member `key`: null gives NaN, and a missing member leaves `value` unchanged. @throws json::exception for another
/// type, DataError for a fraction where an integer is expected
void read_member(const json& line, const char* key, auto& value) {
    const auto found = line.find(key);
    if (found == line.end()) return;
    using Value = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_floating_point_v<Value>) {
        value = found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->template get<double>();
    } else {
        if (!found->is_number_integer()) throw DataError("not a whole number");
        value = found->template get<Value>();
    }
}

template <class Record>
Record record_of(const json& line) {
    Record record;
    record.next_sentence = line.contains(Record::next_sentence_key);
    if constexpr (std::is_same_v<Record, EvaluationRecord>)
        if (line.contains("probe_accuracy")) record.probe.emplace();
    Record::fields(record, [&](const char* key, auto& value) { read_member(line, key, value); });
    if constexpr (requires { record.sources; })
        if (const auto sources = line.find("sources"); sources != line.end())
            for (const auto& [name, numbers] : sources->items()) {
                record.sources.push_back(record_of<typename decltype(record.sources)::value_type>(numbers));
                record.sources.back().name = name;
            }
    return record;
}

/// Returns whether the numbers are possible: losses may have any value, but steps, counts and durations are not negative.
template <class Record>
bool is_possible(const Record& record) {
    constexpr double latest = 95617584000;  // the year 5000
    bool possible = true;
    Record::fields(record, [&](const std::string_view key, const auto& value) {
        const auto number = static_cast<double>(value);
        if (key == "time") possible = possible && number >= 0 && number <= latest;
        else if (key == "step" || key == "samples" || key.ends_with("sequences")) possible = possible && number >= 0;
        else if (key.ends_with("_seconds")) possible = possible && !(number < 0) && !(number > latest);
    });
    return possible;
}

template <class Record>
Record possible_record_of(const json& line) {
    const Record record = record_of<Record>(line);
    if (!is_possible(record)) throw DataError("not possible");
    return record;
}

bool is_evaluation(const json& line) { return line.contains("held_out_mlm_loss"); }

/// A whole line and its position in the file.
struct Line {
    std::string_view text;
    std::uint64_t begin = 0, end = 0;  ///< byte range, including "\n"
};

/// Calls visit(line, its JSON) for each whole line, with one line in memory at a time. Skips lines without a step, and lines for
/// which visit throws, with one warning in total.
void for_each_line(const std::filesystem::path& file, const std::function<void(const Line&, const json&)>& visit) {
    std::int64_t number = 0, unreadable = 0, first_unreadable = 0;
    Line line;
    for_each_whole_line(file, [&](const std::string& text) {
        line = {text, line.end, line.end + text.size() + 1};
        ++number;
        try {
            const json parsed = json::parse(line.text);
            if (!parsed.at("step").is_number_integer()) throw DataError("no step");
            visit(line, parsed);
        } catch (const std::exception&) {
            if (unreadable++ == 0) first_unreadable = number;
        }
        return true;
    });
    if (unreadable > 0)
        log_warning(concat(file.string(), ": skipped ", unreadable, " damaged line(s), the first is line ", first_unreadable));
}

}  // namespace

void MetricsFile::append(const std::string& line) {
    chain_ = chain_value(chain_ ? *chain_ : last_chain_value(lines_->path()), line);
    const std::string chained = ChainedLine::with(line, *chain_);
    lines_->append(chained);
    if (listener_) listener_(chained);
}
void MetricsFile::append(const StepRecord& record) { append(line_of(record)); }
void MetricsFile::append(const EvaluationRecord& record) { append(line_of(record)); }

namespace {

/// Byte ranges of a file, in order. Adjacent ranges are merged.
struct Ranges {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> begins_and_ends;
    std::uint64_t bytes = 0;
    void add(std::uint64_t begin, std::uint64_t end) {
        bytes += end - begin;
        if (!begins_and_ends.empty() && begins_and_ends.back().second == begin) begins_and_ends.back().second = end;
        else begins_and_ends.emplace_back(begin, end);
    }
};

void copy_ranges(const std::filesystem::path& file, const Ranges& ranges, std::ostream& out) {
    std::ifstream in(file, std::ios::binary);
    std::vector<char> buffer(1 << 16);
    for (auto [at, end] : ranges.begins_and_ends) {
        in.seekg(static_cast<std::streamoff>(at));
        for (; at < end; at += static_cast<std::uint64_t>(in.gcount())) {
            in.read(buffer.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(buffer.size(), end - at)));
            if (!in) throw DataError(concat(file.string(), ": cannot be read to its end (", std::strerror(errno), ")"));
            out.write(buffer.data(), in.gcount());
        }
    }
}

}  // namespace

CutSteps MetricsFile::cut_to_step(std::int64_t step, std::int64_t evaluated, LossHistory& kept) {
    const std::filesystem::path file = lines_->path();
    Ranges ranges;
    CutSteps cut;
    std::string chain;
    for_each_line(file, [&](const Line& line, const json& parsed) {
        const std::int64_t of_line = parsed.at("step").get<std::int64_t>();
        if (is_evaluation(parsed)) {
            if (of_line > std::min(step, evaluated)) return;
            kept.add(record_of<EvaluationRecord>(parsed));
        } else if (of_line <= step) {
            kept.add(record_of<StepRecord>(parsed));
        } else {
            ++cut.steps;
            read_member(parsed, "time", cut.time);
            return read_member(parsed, "elapsed_seconds", cut.elapsed_seconds);
        }
        ranges.add(line.begin, line.end);
        chain = ChainedLine::of(line.text).value(chain);
    });
    chain_ = chain;
    if (ranges.bytes == std::filesystem::file_size(file)) return cut;
    write_atomically(file, [&](std::ostream& out) { copy_ranges(file, ranges, out); });
    lines_.emplace(file);  // the old handle belongs to the replaced file
    return cut;
}

void for_each_record(const std::filesystem::path& file, const std::function<void(const StepRecord&)>& visit_step,
                     const std::function<void(const EvaluationRecord&)>& visit_evaluation) {
    for_each_line(file, [&](const Line&, const json& line) {
        if (is_evaluation(line)) visit_evaluation(possible_record_of<EvaluationRecord>(line));
        else visit_step(possible_record_of<StepRecord>(line));
    });
}

Metrics read_metrics(const std::filesystem::path& file) {
    Metrics metrics;
    for_each_record(
        file, [&](const StepRecord& record) { metrics.steps.push_back(record); },
        [&](const EvaluationRecord& record) { metrics.evaluations.push_back(record); });
    return metrics;
}

LossHistory read_losses(const std::filesystem::path& file) {
    LossHistory losses;
    const auto add = [&](const auto& record) { losses.add(record); };
    for_each_record(file, add, add);
    return losses;
}

}  // namespace bertpretrain
