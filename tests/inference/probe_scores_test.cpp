#include "inference/probe_scores.h"

#include <algorithm>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

const std::vector<std::int64_t> given{0, 0, 0, 0, 1, 1, 1, 2, 2, 2}, guessed{0, 0, 0, 1, 1, 1, 0, 2, 0, 2};

}  // namespace

TEST_CASE("accuracy and macro-F1 are scikit-learn's, with Wilson's interval") {
    const ProbeRecord found = score(given, guessed, 3);
    CHECK(found.examples == 10);
    CHECK(found.accuracy == Approx(0.7));
    CHECK(found.accuracy_low == Approx(0.3967781));  // SciPy's binomtest(7, 10).proportion_ci(method="wilson")
    CHECK(found.accuracy_high == Approx(0.8922087));
    CHECK(found.macro_f1 == Approx((6.0 / 9 + 4.0 / 6 + 4.0 / 5) / 3));
    CHECK(found.macro_f1_low < found.macro_f1);
    CHECK(found.macro_f1_high > found.macro_f1);
    CHECK(score(given, given, 3).macro_f1_low == 1);
    CHECK(share_of_most_frequent(given, 3) == Approx(0.4));
}

TEST_CASE("a class that is neither given nor predicted does not count in macro-F1") {
    CHECK(macro_f1(given, guessed, 7) == macro_f1(given, guessed, 3));
}

TEST_CASE("the interval of macro-F1 is as wide as that of bootstrap samples") {
    std::vector<std::int64_t> more_given, more_guessed;
    for (int i = 0; i < 30; ++i) {
        more_given.insert(more_given.end(), given.begin(), given.end());
        more_guessed.insert(more_guessed.end(), guessed.begin(), guessed.end());
    }
    constexpr std::size_t samples = 1000;
    std::vector<double> scores;
    for (std::size_t sample = 0; sample < samples; ++sample) {
        RandomSequence random(1, Purpose::sample_order, sample);
        std::vector<std::int64_t> drawn_given, drawn_guessed;
        for (std::size_t i = 0; i < more_given.size(); ++i) {
            const std::size_t drawn = random.below(static_cast<std::uint32_t>(more_given.size()));
            drawn_given.push_back(more_given[drawn]);
            drawn_guessed.push_back(more_guessed[drawn]);
        }
        scores.push_back(macro_f1(drawn_given, drawn_guessed, 3));
    }
    std::sort(scores.begin(), scores.end());
    const ProbeRecord found = score(more_given, more_guessed, 3);
    CHECK(found.macro_f1_low == Approx(scores[samples / 40]).margin(0.01));
    CHECK(found.macro_f1_high == Approx(scores[samples - 1 - samples / 40]).margin(0.01));
}
