#pragma once
// Where the time of single steps goes: a Chrome trace, which ui.perfetto.dev and chrome://tracing show.

#include <cstdint>
#include <filesystem>

namespace bertpretrain {

/// While it lives, spans of this process's threads are kept, of `count` steps behind the first `skip`; the file is written
/// when these are over, or at the end. Without one, a span costs a look at a flag. One at a time.
class Trace {
public:
    Trace(std::filesystem::path file, std::int64_t rank, std::int64_t skip, std::int64_t count);
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    ~Trace();
};

/// What a thread does from here to the end of the scope.
class TraceSpan {
public:
    /// @param name lives as long as the program
    explicit TraceSpan(const char* name);
    TraceSpan(const TraceSpan&) = delete;
    TraceSpan& operator=(const TraceSpan&) = delete;
    ~TraceSpan();

private:
    const char* name_;
    double begin_ = -1;
};

/// An optimizer step, from here to the end of the scope.
class TraceStep {
public:
    TraceStep();
    TraceStep(const TraceStep&) = delete;
    TraceStep& operator=(const TraceStep&) = delete;
    ~TraceStep();

private:
    double begin_ = -1;
};

/// As a TraceSpan, for who has measured it. @param name lives as long as the program @param begin and end as of seconds_now()
/// @param row null: the calling thread's. Else a row of this name, for what happens on a device; lives as long as the program
void trace_span(const char* name, double begin, double end, const char* row = nullptr) noexcept;

/// Whether spans are kept now.
bool trace_is_kept() noexcept;

}  // namespace bertpretrain
