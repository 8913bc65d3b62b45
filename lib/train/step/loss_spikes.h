#pragma once
// Detects losses that stand out from the previous ones.

#include <cstddef>
#include <deque>
#include <optional>

namespace bertpretrain {

/// A loss far above the previous ones.
struct LossSpike {
    double median = 0;      ///< of the previous losses
    double deviations = 0;  ///< distance above the median, in estimated standard deviations
};

/// Compares each loss with the median of the previous 64. The unit is their median absolute deviation, scaled to a normal
/// distribution's standard deviation (1.4826) and at least 1 % of the median. Being robust, it still detects a spike after
/// others.
class LossSpikes {
public:
    /// @param deviations above the median that count as a spike; 0: detects none
    explicit LossSpikes(double deviations) : deviations_(deviations) {}

    /// @param loss finite
    /// @returns nullopt for an ordinary loss, and for the first 32 losses
    std::optional<LossSpike> add(double loss);

private:
    double deviations_;
    std::deque<double> last_;
};

}  // namespace bertpretrain
