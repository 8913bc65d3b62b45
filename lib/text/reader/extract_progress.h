#pragma once
// The progress display of extract().

#include <cstdint>
#include <string>

#include "core/output/progress_line.h"
#include "text/extract_counts.h"

namespace bertpretrain {

/// Shows MB/s, the number of articles and, when the input size is known, the percentage done and the time left.
class ExtractProgress {
public:
    /// @param total_bytes (compressed) size of all input files; 0 when unknown
    explicit ExtractProgress(std::uint64_t total_bytes, ProgressOutput output = progress_to_stderr());

    void show(const ExtractCounts& counts);

private:
    std::uint64_t total_bytes_;
    ProgressLine line_;
};

}  // namespace bertpretrain
