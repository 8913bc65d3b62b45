#include "batches/source_parts.h"

#include <algorithm>

#include "core/error.h"

namespace bertpretrain {

std::vector<SourcePart> source_parts(const UnpaddedSamples& samples, std::span<const std::size_t> sources_B) {
    check(sources_B.size() == samples.lengths_B.size() && std::ranges::is_sorted(sources_B), "the sources of ", sources_B.size(),
          " samples, expected those of ", samples.lengths_B.size(), " in order");
    auto masked_row = samples.masked_rows_M.begin();
    std::int64_t tokens = 0;
    std::vector<SourcePart> parts;
    for (std::size_t b = 0; b < sources_B.size(); ++b) {
        if (parts.empty() || parts.back().source != sources_B[b]) parts.push_back({sources_B[b], 0, 0});
        tokens += samples.lengths_B[b];
        const auto end = std::lower_bound(masked_row, samples.masked_rows_M.end(), tokens);
        ++parts.back().sequences;
        parts.back().masked += end - masked_row;
        masked_row = end;
    }
    return parts;
}

}  // namespace bertpretrain
