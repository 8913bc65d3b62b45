#include "core/output/progress_line.h"

#include <algorithm>

#include "core/concat.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_lines = 5, seconds_between_drawings = 0.1;
constexpr std::size_t bar_columns = 24;

std::string bar(double share) {
    const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(bar_columns));
    return concat("[", std::string(full, '#'), std::string(bar_columns - full, '.'), "] ");
}

}  // namespace

ProgressLine::ProgressLine(ProgressOutput output) : output_(std::move(output)), start_(output_.seconds()), shown_(start_) {}

ProgressLine::~ProgressLine() {
    if (is_drawn_) output_.draw(clear_line);
}

bool ProgressLine::is_due() const {
    return output_.seconds() - shown_ >= (output_.is_terminal ? seconds_between_drawings : seconds_between_lines);
}

void ProgressLine::show(const std::string& text, std::optional<double> share) {
    shown_ = output_.seconds();
    if (!output_.is_terminal) return output_.say(text);
    const std::string drawn = (share ? bar(*share) : "") + text;
    output_.draw(clear_line + drawn.substr(0, std::max<std::size_t>(output_.columns, 2) - 1));
    is_drawn_ = true;
}

}  // namespace bertpretrain
