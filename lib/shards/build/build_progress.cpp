#include "shards/build/build_progress.h"

#include <algorithm>

#include "core/concat.h"
#include "core/strings.h"

namespace bertpretrain {

void BuildProgress::begin(std::uint64_t bytes) { total_ = static_cast<double>(bytes); }

void BuildProgress::advance(double bytes) {
    const std::lock_guard lock(guard_);
    done_ += bytes;
    if (done_ <= 0 || !line_.is_due()) return;
    const double elapsed = line_.seconds(), share = std::min(done_ / total_, 1.0);
    line_.show(concat(fixed(100 * share, 1), " % of ", bytes_text(static_cast<std::uint64_t>(total_)), " | ",
                      fixed(done_ / 1e6 / elapsed, 1), " MB/s | eta ", duration_text(elapsed * (1 / share - 1))),
               share);
}

}  // namespace bertpretrain
