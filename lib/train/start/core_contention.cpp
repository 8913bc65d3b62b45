#include "train/start/core_contention.h"

#include "core/concat.h"
#include "core/strings.h"

namespace bertpretrain {

std::optional<std::string> CoreContention::add(double now, std::optional<double> waited) {
    constexpr double window_seconds = 20, seconds_between_warnings = 3600, tolerated_share = 0.1;
    if (!waited) return std::nullopt;
    if (!began_) {  // the first step: the start before it does not count
        began_ = now;
        waited_before_ = waited;
        return std::nullopt;
    }
    const double seconds = now - *began_;
    if (seconds < window_seconds) return std::nullopt;
    const double sum = *waited - *waited_before_;  // threads that do not compute, such as the loader's, wait as well
    began_ = now;
    waited_before_ = waited;
    if (sum / seconds / threads_ < tolerated_share || (warned_ && now - *warned_ < seconds_between_warnings)) return std::nullopt;
    warned_ = now;
    return concat(
        "the threads of this process, ", threads_, " of which compute", threads_ == 1 ? "s" : "", ", waited ", fixed(sum, 1),
        " s, added up, for a core in the last ", fixed(seconds, 0),
        " s, so steps take longer: other processes use the same cores, or a CPU quota is smaller than "
        "the number of threads. Stop the other processes, give this one cores of its own (taskset, a job's CPU request), "
        "or set OMP_NUM_THREADS to the number of cores that are free");
}

}  // namespace bertpretrain
