#include "text/reader/extract_progress.h"

#include <algorithm>

#include "core/concat.h"
#include "core/strings.h"

namespace bertpretrain {

ExtractProgress::ExtractProgress(std::uint64_t total_bytes, ProgressOutput output)
    : total_bytes_(total_bytes), line_(std::move(output)) {}

void ExtractProgress::show(const ExtractCounts& counts) {
    if (!line_.is_due()) return;
    const double bytes = static_cast<double>(counts.bytes_read), rate = bytes / std::max(line_.seconds(), 1e-3);
    std::string text = concat(fixed(rate / 1e6, 1), " MB/s | ", with_thousands(counts.articles), " articles");
    if (total_bytes_ == 0) return line_.show(concat(bytes_text(counts.bytes_read), " read | ", text), std::nullopt);
    const double share = std::min(bytes / static_cast<double>(total_bytes_), 1.0);
    text = concat(fixed(100 * share, 1), " % of ", bytes_text(total_bytes_), " | ", text);
    if (rate > 0) text += concat(" | eta ", duration_text((static_cast<double>(total_bytes_) - bytes) / rate));
    line_.show(text, share);
}

}  // namespace bertpretrain
