#include "reports/nearest_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "support/catch.h"
#include "support/contains.h"

using namespace bertpretrain;

namespace {

/// A matrix in memory, which is read or mapped.
class Matrix final : public VectorReader {
public:
    Matrix(std::int64_t rows, std::int64_t columns, bool is_mapped) : is_mapped_(is_mapped) {
        shape_ = {rows, columns};
        std::uint32_t state = 7;
        for (std::int64_t i = 0; i < rows * columns; ++i) {
            state = state * 1664525U + 1013904223U;
            values.push_back(static_cast<float>(state >> 8) / 8388608.0F - 0.5F);  // a mean of about 0.5
        }
    }
    void read(std::int64_t first, std::span<float> rows) const override {
        std::copy_n(values.begin() + first * shape_.columns, rows.size(), rows.begin());
    }
    std::span<const float> mapped() const override { return is_mapped_ ? std::span(values) : std::span<const float>(); }

    std::vector<float> values;

private:
    bool is_mapped_;
};

/// All scores of a query by plain loops in double, the best first.
std::vector<NearRow> expected_rows(const Matrix& matrix, std::int64_t query, const NearestSettings& settings) {
    const auto [rows, columns] = matrix.shape();
    std::vector<double> center(static_cast<std::size_t>(columns), 0);
    for (std::int64_t i = 0; settings.centers && i < rows * columns; ++i)
        center[static_cast<std::size_t>(i % columns)] +=
            static_cast<double>(matrix.values[static_cast<std::size_t>(i)]) / static_cast<double>(rows);
    const auto product = [&](std::int64_t a, std::int64_t b) {
        double sum = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            const double middle = center[static_cast<std::size_t>(c)];
            sum += (static_cast<double>(matrix.values[static_cast<std::size_t>(a * columns + c)]) - middle) *
                   (static_cast<double>(matrix.values[static_cast<std::size_t>(b * columns + c)]) - middle);
        }
        return sum;
    };
    std::vector<NearRow> all;
    for (std::int64_t row = 0; row < rows; ++row) {
        if (row == query) continue;
        const double norms = settings.by == Similarity::dot ? 1 : std::sqrt(product(row, row) * product(query, query));
        all.push_back({row, static_cast<float>(product(query, row) / norms)});
    }
    std::ranges::stable_sort(all, std::greater{}, &NearRow::score);
    all.resize(std::min(all.size(), static_cast<std::size_t>(settings.count)));
    return all;
}

}  // namespace

TEST_CASE("the nearest rows are those of plain loops, by cosine and product, centered or not, for any threads and queries") {
    for (const bool is_mapped : {true, false})
        for (const std::int64_t columns : {5, 64, 131}) {
            const Matrix matrix(3'001, columns, is_mapped);
            for (const Similarity by : {Similarity::cosine, Similarity::dot})
                for (const bool centers : {true, false}) {
                    const NearestSettings settings{by, 7, centers, 3};
                    std::vector<NearestQuery> queries;
                    const std::vector<std::int64_t> chosen{0, 17, 1500, 2999, 3000, 42};
                    for (const std::int64_t row : chosen)
                        queries.push_back(
                            {std::span(matrix.values)
                                 .subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns)),
                             row});
                    const auto found = nearest_rows(matrix, queries, settings);
                    const auto alone = nearest_rows(matrix, queries, {by, 7, centers, 1});
                    REQUIRE(found.size() == chosen.size());
                    for (std::size_t q = 0; q < chosen.size(); ++q) {
                        const auto right = expected_rows(matrix, chosen[q], settings);
                        REQUIRE(found[q].size() == right.size());
                        for (std::size_t i = 0; i < right.size(); ++i) {
                            CAPTURE(columns, q, i, found[q][i].row, right[i].row);
                            CHECK(std::fabs(found[q][i].score - right[i].score) < 2e-5F);
                            CHECK((found[q][i].row == alone[q][i].row && found[q][i].score == alone[q][i].score));
                        }
                    }
                }
        }
}

TEST_CASE("of equal scores the first rows are found, a row of zeros has the cosine 0, and fewer rows give fewer neighbours") {
    Matrix matrix(4, 2, true);
    matrix.values = {1, 0, 2, 0, 0, 0, 1, 0};
    const std::vector<float> query{3, 0};
    const auto found = nearest_rows(matrix, {{query, -1}}, {Similarity::cosine, 2, false, 2});
    REQUIRE(found.front().size() == 2);
    CHECK(found.front()[0].row == 0);
    CHECK(found.front()[1].row == 1);
    const auto all = nearest_rows(matrix, {{query, 1}}, {Similarity::cosine, 9, false, 2});
    REQUIRE(all.front().size() == 3);
    CHECK(all.front()[2].row == 2);
    CHECK(all.front()[2].score == 0);
}

TEST_CASE("rows with a lower score than the least one are left out, also where fewer than asked for remain") {
    Matrix matrix(5, 2, true);
    matrix.values = {1, 0, 0.5F, 0, 2, 0, 0.25F, 9, -1, 0};
    const std::vector<float> query{1, 0};
    NearestSettings settings{Similarity::dot, 10, false, 2};
    settings.least_score = 0.5F;
    const auto found = nearest_rows(matrix, {{query, -1}}, settings);
    REQUIRE(found.front().size() == 3);
    CHECK(found.front()[0].row == 2);
    CHECK(found.front()[2].row == 1);  // its score is the least one
    settings.count = 2;
    CHECK(nearest_rows(matrix, {{query, -1}}, settings).front().size() == 2);
}

TEST_CASE("a query that is not finite is named, and not taken for a row of the vectors") {
    const Matrix matrix(5, 3, true);
    const std::vector<float> good{1, 2, 3}, bad{1, std::numeric_limits<float>::quiet_NaN(), 3};
    CHECK_THROWS_WITH(nearest_rows(matrix, {{good, -1}, {bad, -1}}, {Similarity::dot, 2, false, 1}),
                      Catch::Contains("the vector of query 1, from 0, has a number that is not finite"));
}

TEST_CASE("a row that is not finite is named") {
    Matrix matrix(300, 3, true);
    matrix.values[3 * 211 + 1] = std::numeric_limits<float>::quiet_NaN();
    matrix.values[3 * 250] = std::numeric_limits<float>::infinity();
    const std::vector<float> query{1, 2, 3};
    for (const Similarity by : {Similarity::cosine, Similarity::dot}) {
        try {
            nearest_rows(matrix, {{query, -1}}, {by, 2, false, 2});
            FAIL("it was accepted");
        } catch (const DataError& error) { CHECK(testing::contains(error.what(), "row 211 of the vectors")); }
    }
}
