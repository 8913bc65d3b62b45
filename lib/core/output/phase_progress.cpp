#include "core/output/phase_progress.h"

#include <algorithm>

#include "core/concat.h"
#include "core/strings.h"

namespace bertpretrain {

PhaseProgress::PhaseProgress(std::string phase, double total, ProgressOutput output)
    : phase_(std::move(phase)), total_(total), line_(std::move(output)) {}

void PhaseProgress::advance(double amount) {
    const std::lock_guard lock(guard_);
    done_ += amount;
    if (done_ <= 0 || !line_.is_due()) return;
    if (total_ <= 0) return line_.show(phase_, std::nullopt);
    const double share = std::min(done_ / total_, 1.0);
    line_.show(concat(phase_, " | ", fixed(100 * share, 1), " % | eta ", duration_text(line_.seconds() * (1 / share - 1))),
               share);
}

}  // namespace bertpretrain
