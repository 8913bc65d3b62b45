#pragma once
// How well a labelled task can be done with a model's vectors.

#include <cstdint>

namespace bertpretrain {

/// The scores of one probe (inference/probe.h). Scores are from 0 to 1; the bounds are those of 95 % confidence intervals.
/// All are NaN if a vector was not finite.
struct ProbeRecord {
    double accuracy = 0, accuracy_low = 0, accuracy_high = 0;  ///< Wilson's interval
    double macro_f1 = 0, macro_f1_low = 0, macro_f1_high = 0;  ///< by the delta method
    std::int64_t examples = 0;
    double seconds = 0;  ///< duration of the probe, vectors included

    /// Calls field(key of the metrics file, member) for each member.
    static void fields(auto& self, auto&& field) {
        field("probe_accuracy", self.accuracy);
        field("probe_accuracy_low", self.accuracy_low);
        field("probe_accuracy_high", self.accuracy_high);
        field("probe_macro_f1", self.macro_f1);
        field("probe_macro_f1_low", self.macro_f1_low);
        field("probe_macro_f1_high", self.macro_f1_high);
        field("probe_examples", self.examples);
        field("probe_seconds", self.seconds);
    }
};

}  // namespace bertpretrain
