#include "shards/build_progress.h"

#include "core/error.h"
#include "core/log.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_lines = 10;

}  // namespace

void BuildProgress::begin(double bytes) { total_ = bytes; }

double BuildProgress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

void BuildProgress::advance(double bytes) {
    const std::lock_guard lock(guard_);
    done_ += bytes;
    if (std::chrono::duration<double>(Clock::now() - last_line_).count() < seconds_between_lines || done_ <= 0) return;
    last_line_ = Clock::now();
    const double elapsed = seconds();
    log_info(concat(fixed(100 * done_ / total_, 1), " %, ", fixed(done_ / 1e6 / elapsed, 1), " MB of text per second, about ",
                    duration_text(elapsed / done_ * (total_ - done_)), " left"));
}

}  // namespace bertpretrain
