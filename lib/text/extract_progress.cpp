#include "text/extract_progress.h"

#include <algorithm>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_lines = 5, seconds_between_drawings = 0.1;
constexpr std::size_t bar_columns = 24;

}  // namespace

ExtractProgress::ExtractProgress(std::uint64_t total_bytes, ProgressOutput output)
    : total_bytes_(total_bytes), output_(std::move(output)), start_(output_.seconds()), shown_(start_) {}

ExtractProgress::~ExtractProgress() {
    if (is_drawn_) output_.draw(clear_line);
}

std::string ExtractProgress::bar(double share) const {
    const auto full = static_cast<std::size_t>(share * static_cast<double>(bar_columns));
    return concat("[", std::string(full, '#'), std::string(bar_columns - full, '.'), "] ");
}

std::string ExtractProgress::line(const ExtractCounts& counts, double seconds) const {
    const double bytes = static_cast<double>(counts.bytes_read), rate = bytes / std::max(seconds, 1e-3);
    std::string text = concat(fixed(rate / 1e6, 1), " MB/s | ", with_thousands(counts.articles), " articles");
    if (total_bytes_ == 0) return concat(bytes_text(counts.bytes_read), " read | ", text);
    const double share = std::min(bytes / static_cast<double>(total_bytes_), 1.0);
    text = concat(fixed(100 * share, 1), " % of ", bytes_text(total_bytes_), " | ", text);
    if (rate > 0) text += concat(" | eta ", duration_text((static_cast<double>(total_bytes_) - bytes) / rate));
    return output_.is_terminal ? bar(share) + text : text;
}

void ExtractProgress::show(const ExtractCounts& counts) {
    const double now = output_.seconds();
    if (now - shown_ < (output_.is_terminal ? seconds_between_drawings : seconds_between_lines)) return;
    shown_ = now;
    const std::string text = line(counts, now - start_);
    if (!output_.is_terminal) return output_.say(text);
    output_.draw(clear_line + text.substr(0, std::max<std::size_t>(output_.columns, 2) - 1));
    is_drawn_ = true;
}

}  // namespace bertpretrain
