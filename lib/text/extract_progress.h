#pragma once
// What a person sees while dumps are read.

#include <cstdint>
#include <string>

#include "core/progress_line.h"
#include "text/extract.h"

namespace bertpretrain {

/// MB/s, articles and, where the inputs' size is known, the share that is done and the time left.
class ExtractProgress {
public:
    /// @param total_bytes of all input files as they lie there; 0: unknown, no share and no time left are shown
    explicit ExtractProgress(std::uint64_t total_bytes, ProgressOutput output = progress_to_stderr());

    void show(const ExtractCounts& counts);

private:
    std::uint64_t total_bytes_;
    ProgressLine line_;
};

}  // namespace bertpretrain
