#pragma once
// Records the timing of single steps as a Chrome trace, for ui.perfetto.dev and chrome://tracing.

#include <cstdint>
#include <filesystem>

namespace bertpretrain {

/// Records the spans of all threads of this process during `count` steps after the first `skip`. Writes the file when these
/// steps are done, or on destruction. Without a Trace, a span costs one flag check. Only one may exist at a time.
class Trace {
public:
    Trace(std::filesystem::path file, std::int64_t rank, std::int64_t skip, std::int64_t count);
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;
    ~Trace();
};

/// Records a span of the calling thread from construction to the end of the scope.
class TraceSpan {
public:
    /// @param name must live as long as the program
    explicit TraceSpan(const char* name);
    TraceSpan(const TraceSpan&) = delete;
    TraceSpan& operator=(const TraceSpan&) = delete;
    ~TraceSpan();

private:
    const char* name_;
    double begin_ = -1;
};

/// Records an optimizer step from construction to the end of the scope.
class TraceStep {
public:
    TraceStep();
    TraceStep(const TraceStep&) = delete;
    TraceStep& operator=(const TraceStep&) = delete;
    ~TraceStep();

private:
    double begin_ = -1;
};

/// Records a span that the caller has measured. @param begin,end times by seconds_now()  @param name must live as long as the
/// program  @param row nullptr: the calling thread's row; else a row of this name, for a device; must live as long as the program
void trace_span(const char* name, double begin, double end, const char* row = nullptr) noexcept;

/// Returns whether spans are being recorded.
bool trace_is_kept() noexcept;

}  // namespace bertpretrain
