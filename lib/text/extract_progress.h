#pragma once
// What a person sees while dumps are read.

#include <cstdint>
#include <string>

#include "core/progress_output.h"
#include "text/extract.h"

namespace bertpretrain {

/// On a terminal a bar that is drawn over and over, with MB/s and the time left; elsewhere a line every few seconds.
class ExtractProgress {
public:
    /// @param total_bytes of all input files as they lie there; 0: unknown, no share and no time left are shown
    explicit ExtractProgress(std::uint64_t total_bytes, ProgressOutput output = progress_to_stderr());
    ExtractProgress(const ExtractProgress&) = delete;
    ExtractProgress& operator=(const ExtractProgress&) = delete;
    ~ExtractProgress();  ///< takes the bar away

    void show(const ExtractCounts& counts);

private:
    std::string line(const ExtractCounts& counts, double seconds) const;
    std::string bar(double share) const;

    std::uint64_t total_bytes_;
    ProgressOutput output_;
    double start_, shown_;
    bool is_drawn_ = false;
};

}  // namespace bertpretrain
