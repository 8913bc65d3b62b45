#include "reports/vector_comparison.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Vectors in memory.
class Rows final : public VectorReader {
public:
    Rows(std::vector<float> values, std::int64_t columns) : values_(std::move(values)) {
        shape_ = {static_cast<std::int64_t>(values_.size()) / columns, columns};
    }
    void read(std::int64_t first, std::span<float> rows) const override {
        std::copy_n(values_.begin() + first * shape_.columns, rows.size(), rows.begin());
    }

private:
    std::vector<float> values_;
};

/// Returns random numbers in [-0.5, 0.5).
std::vector<float> noise(std::uint64_t seed, std::size_t count) {
    RandomSequence random(seed, Purpose::sample_order, 0);
    std::vector<float> values(count);
    for (float& value : values) value = random.uniform() - 0.5F;
    return values;
}

VectorComparison compared(const std::vector<float>& a, const std::vector<float>& b, std::int64_t columns) {
    return compare_vectors("a.npy", Rows(a, columns), "b.npy", Rows(b, columns));
}

}  // namespace

TEST_CASE("scaled vectors have cosine 1 and the same order; one that turned is found by its row") {
    const std::vector<float> a = noise(1, 40 * 8);
    std::vector<float> b = a;
    for (float& value : b) value *= 3;
    const VectorComparison same = compared(a, b, 8);
    CHECK(same.lowest_cosine == Approx(1));
    CHECK(same.mean_cosine == Approx(1));
    CHECK(same.queries == 40);
    CHECK(same.same_nearest == 1);
    CHECK(same.shared_nearest == 1);
    CHECK(same.rank_correlation == Approx(1));
    CHECK(same.alike(1e-6));
    for (std::size_t d = 0; d < 8; ++d) b[17 * 8 + d] = -b[17 * 8 + d];
    const VectorComparison turned = compared(a, b, 8);
    CHECK(turned.lowest_cosine == Approx(-1));
    CHECK(turned.lowest_row == 17);
    CHECK(turned.mean_cosine == Approx(38.0 / 40));
    CHECK_FALSE(turned.alike(0.1));
    CHECK(turned.rank_correlation < 1);
}

TEST_CASE("unrelated vectors have no order in common") {
    const VectorComparison found = compared(noise(1, 300 * 16), noise(2, 300 * 16), 16);
    CHECK(found.queries == 200);
    CHECK(found.compared_rows == 300);
    CHECK(std::fabs(found.rank_correlation) < 0.05);
    CHECK(found.shared_nearest < 0.1);  // 10 of 299 by chance
    CHECK_FALSE(found.alike(0.5));
}

TEST_CASE("Spearman's correlation is that of SciPy, also with equal values") {
    CHECK(spearman({1, 2, 3, 4, 5}, {5, 6, 7, 8, 7}) == Approx(0.8207826816681233));  // scipy.stats.spearmanr's example
    CHECK(spearman({1, 2, 3}, {3, 2, 1}) == Approx(-1));
    CHECK(spearman({1, 1, 1}, {3, 2, 1}) == 1);
}

TEST_CASE("zero rows, few rows, unlike shapes and numbers that are not finite are dealt with") {
    const VectorComparison zeros = compared({0, 0, 1, 2}, {0, 0, 0, 0}, 2);
    CHECK(zeros.lowest_cosine == 0);
    CHECK(zeros.lowest_row == 1);
    CHECK(zeros.mean_cosine == 0.5);
    CHECK(zeros.queries == 0);
    CHECK_THROWS_WITH(compared({1, 2, 3, 4}, {1, 2}, 2), Catch::Contains("a.npy has 2 x 2 numbers, b.npy has 1 x 2"));
    CHECK_THROWS_WITH(compared({1, 2, 3, 4}, {1, 2, 3, std::numeric_limits<float>::quiet_NaN()}, 2),
                      Catch::Contains("b.npy: row 1 (from 0) has a number that is not finite"));
}
