#include "telemetry/trace.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/held_folder.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

struct Span {
    const char* name;
    pid_t thread;
    double begin, end;
    const char* row;  ///< nullptr: the thread's row
};

struct Recorder {
    std::atomic<bool> keeps{false};
    std::mutex mutex;  // protects the members below
    std::filesystem::path file;
    std::int64_t rank = 0, skip = 0, count = 0;
    std::vector<Span> spans;
};

Recorder& recorder() {
    static Recorder one;
    return one;
}

/// Numbers the named rows, in the order of their names, above all thread ids.
std::map<std::string, std::int64_t> numbers_of_rows(const std::vector<Span>& spans) {
    constexpr std::int64_t above_threads = 1'000'000'000;
    std::map<std::string, std::int64_t> numbers;
    for (const Span& span : spans)
        if (span.row != nullptr) numbers[span.row] = 0;
    std::int64_t next = above_threads;
    for (auto& [name, number] : numbers) number = next++;
    return numbers;
}

/// Returns a complete event of the "Trace Event Format". Its times are in microseconds.
nlohmann::json event_of(const Span& span, std::int64_t rank, std::int64_t row) {
    return {{"name", span.name},
            {"cat", "train"},
            {"ph", "X"},
            {"pid", rank},
            {"tid", row},
            {"ts", span.begin * 1e6},
            {"dur", (span.end - span.begin) * 1e6}};
}

std::string trace_text(const Recorder& of) {
    nlohmann::json events = nlohmann::json::array();
    events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", of.rank}, {"args", {{"name", concat("rank ", of.rank)}}}});
    const std::map<std::string, std::int64_t> rows = numbers_of_rows(of.spans);
    for (const auto& [name, number] : rows)
        events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", of.rank}, {"tid", number}, {"args", {{"name", name}}}});
    for (const Span& span : of.spans)
        events.push_back(event_of(span, of.rank, span.row != nullptr ? rows.at(span.row) : span.thread));
    return nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}.dump();
}

/// Writes and discards the recorded spans. If writing fails, logs a warning, so that the run continues.
void write_trace(Recorder& of) {
    of.keeps = false;
    if (of.spans.empty()) return;
    try {
        const auto place = own_place_of(of.file);
        if (!place) throw DataError(concat(of.file.string(), ": another process trains in this folder, so no trace is written"));
        write_atomically(*place, trace_text(of));
        log_info(concat("trace: ", of.file.string()));
    } catch (const std::exception& error) { log_warning(error.what()); }
    of.spans.clear();
}

}  // namespace

bool trace_is_kept() noexcept { return recorder().keeps; }

void trace_span(const char* name, double begin, double end, const char* row) noexcept {
    Recorder& to = recorder();
    if (!to.keeps) return;
    try {
        const std::lock_guard lock(to.mutex);
        if (to.keeps) to.spans.push_back({name, ::gettid(), begin, end, row});  // else the trace has been written already
    } catch (const std::exception&) {}                                          // out of memory: drops the span
}

Trace::Trace(std::filesystem::path file, std::int64_t rank, std::int64_t skip, std::int64_t count) {
    Recorder& to = recorder();
    const std::lock_guard lock(to.mutex);
    to.file = std::move(file);
    to.rank = rank;
    to.skip = skip;
    to.count = count;
    to.spans.clear();
}

Trace::~Trace() {
    Recorder& of = recorder();
    const std::lock_guard lock(of.mutex);
    write_trace(of);
    of.count = 0;
}

TraceSpan::TraceSpan(const char* name) : name_(name) {
    if (recorder().keeps) begin_ = seconds_now();
}

TraceSpan::~TraceSpan() {
    if (begin_ >= 0) trace_span(name_, begin_, seconds_now());
}

TraceStep::TraceStep() {
    Recorder& to = recorder();
    const std::lock_guard lock(to.mutex);
    if (to.count == 0) return;
    if (to.skip > 0) {
        --to.skip;
        return;
    }
    to.keeps = true;
    begin_ = seconds_now();
}

TraceStep::~TraceStep() {
    if (begin_ < 0) return;
    trace_span("step", begin_, seconds_now());
    Recorder& to = recorder();
    const std::lock_guard lock(to.mutex);
    if (--to.count == 0) write_trace(to);
}

}  // namespace bertpretrain
