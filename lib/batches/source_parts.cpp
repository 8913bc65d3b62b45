#include "batches/source_parts.h"

#include <algorithm>

#include "core/error.h"

namespace bertpretrain {

std::vector<SourcePart> source_parts(std::span<const UnpaddedSamples> samples_B, std::span<const std::size_t> sources_B) {
    check(sources_B.size() == samples_B.size() && std::ranges::is_sorted(sources_B), "the sources of ", sources_B.size(),
          " samples, expected those of ", samples_B.size(), " in order");
    std::vector<SourcePart> parts;
    for (std::size_t b = 0; b < sources_B.size(); ++b) {
        if (parts.empty() || parts.back().source != sources_B[b]) parts.push_back({sources_B[b], 0, 0});
        ++parts.back().sequences;
        parts.back().masked += std::ssize(samples_B[b].masked_rows_M);
    }
    return parts;
}

}  // namespace bertpretrain
