#pragma once
// Losses that stand out of those before them.

#include <cstddef>
#include <deque>
#include <optional>

namespace bertpretrain {

/// A loss far above the last ones.
struct LossSpike {
    double median = 0;      ///< of the losses before it
    double deviations = 0;  ///< how far above, in standard deviations of them
};

/// Compares each loss with the median of the 64 before it, in units of their median absolute deviation, scaled to a normal
/// distribution's standard deviation (1.4826) and never below 1 % of the median: a few spikes do not hide the next one.
class LossSpikes {
public:
    /// @param deviations above the median that make a spike; 0: there are none
    explicit LossSpikes(double deviations) : deviations_(deviations) {}

    /// @param loss finite
    /// @returns nothing for an ordinary loss, and until 32 are known
    std::optional<LossSpike> add(double loss);

private:
    double deviations_;
    std::deque<double> last_;
};

}  // namespace bertpretrain
