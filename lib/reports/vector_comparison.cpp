#include "reports/vector_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t most_compared = 2000, most_queries = 200, nearest_rows = 10;

double product_of(const float* a, const float* b, std::int64_t columns) {
    double sum = 0;
    for (std::int64_t d = 0; d < columns; ++d) sum += static_cast<double>(a[d]) * static_cast<double>(b[d]);
    return sum;
}

double cosine(const float* a, const float* b, std::int64_t columns) {
    const double squares_a = product_of(a, a, columns), squares_b = product_of(b, b, columns);
    if (squares_a == 0 || squares_b == 0) return squares_a == squares_b ? 1 : 0;
    return product_of(a, b, columns) / std::sqrt(squares_a) / std::sqrt(squares_b);
}

void check_rows(const std::string& name, const std::vector<float>& rows, std::int64_t first, std::int64_t columns) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!std::isfinite(rows[i]))
            throw DataError(concat(name, ": row ", first + static_cast<std::int64_t>(i) / columns,
                                   " (from 0) has a number that is ",
                                   "not finite\n  do: compute the vectors again with an undamaged model"));
}

void add_cosines(VectorComparison& comparison, const std::string& name_a, const VectorReader& a, const std::string& name_b,
                 const VectorReader& b) {
    const auto [rows, columns] = comparison.shape;
    const std::int64_t at_once = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / columns);
    double sum = 0;
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const std::int64_t count = std::min(at_once, rows - first);
        std::vector<float> block_a(static_cast<std::size_t>(count * columns)), block_b(block_a.size());
        a.read(first, block_a);
        b.read(first, block_b);
        check_rows(name_a, block_a, first, columns);
        check_rows(name_b, block_b, first, columns);
        for (std::int64_t r = 0; r < count; ++r) {
            const double one = cosine(block_a.data() + r * columns, block_b.data() + r * columns, columns);
            sum += one;
            if (one < comparison.lowest_cosine || first + r == 0) {
                comparison.lowest_cosine = one;
                comparison.lowest_row = first + r;
            }
        }
    }
    comparison.mean_cosine = sum / static_cast<double>(rows);
}

/// Rows spread evenly over a file.
class SpreadRows {
public:
    SpreadRows(const VectorReader& reader, std::int64_t count) : columns_(reader.shape().columns) {
        rows_.resize(static_cast<std::size_t>(count * columns_));
        for (std::int64_t i = 0; i < count; ++i)
            reader.read(i * reader.shape().rows / count,
                        std::span(rows_).subspan(static_cast<std::size_t>(i * columns_), static_cast<std::size_t>(columns_)));
    }
    /// Returns the cosines of a row with all others, in order.
    std::vector<double> similarities(std::int64_t query) const {
        std::vector<double> all;
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(rows_.size()) / columns_; ++i)
            if (i != query) all.push_back(cosine(rows_.data() + query * columns_, rows_.data() + i * columns_, columns_));
        return all;
    }

private:
    std::int64_t columns_;
    std::vector<float> rows_;
};

/// Returns the indices of the largest values, the largest first.
std::vector<std::size_t> largest_values(const std::vector<double>& values, std::size_t count) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::partial_sort(order.begin(), end, order.end(),
                      [&](std::size_t i, std::size_t j) { return values[i] != values[j] ? values[i] > values[j] : i < j; });
    order.erase(end, order.end());
    return order;
}

void add_ranks(VectorComparison& comparison, const VectorReader& a, const VectorReader& b) {
    if (comparison.shape.rows < 3) return;
    comparison.compared_rows = std::min(most_compared, comparison.shape.rows);
    comparison.queries = std::min(most_queries, comparison.compared_rows);
    const SpreadRows rows_a(a, comparison.compared_rows), rows_b(b, comparison.compared_rows);
    for (std::int64_t q = 0; q < comparison.queries; ++q) {
        const std::int64_t query = q * comparison.compared_rows / comparison.queries;
        const std::vector<double> in_a = rows_a.similarities(query), in_b = rows_b.similarities(query);
        std::vector<std::size_t> near_a = largest_values(in_a, nearest_rows), near_b = largest_values(in_b, nearest_rows), shared;
        comparison.same_nearest += near_a.front() == near_b.front() ? 1 : 0;
        const auto count = static_cast<double>(near_a.size());
        std::sort(near_a.begin(), near_a.end());
        std::sort(near_b.begin(), near_b.end());
        std::set_intersection(near_a.begin(), near_a.end(), near_b.begin(), near_b.end(), std::back_inserter(shared));
        comparison.shared_nearest += static_cast<double>(shared.size()) / count;
        comparison.rank_correlation += spearman(in_a, in_b);
    }
    for (double* mean : {&comparison.same_nearest, &comparison.shared_nearest, &comparison.rank_correlation})
        *mean /= static_cast<double>(comparison.queries);
}

/// Returns each value's rank; equal values share their mean rank.
std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
        for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
    }
    return ranks;
}

}  // namespace

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> ranks_a = ranks_of(a), ranks_b = ranks_of(b);
    const double mean = (static_cast<double>(a.size()) - 1) / 2;
    double products = 0, squares_a = 0, squares_b = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double x = ranks_a[i] - mean, y = ranks_b[i] - mean;
        products += x * y;
        squares_a += x * x;
        squares_b += y * y;
    }
    return squares_a == 0 || squares_b == 0 ? 1 : products / std::sqrt(squares_a * squares_b);
}

VectorComparison compare_vectors(const std::string& name_a, const VectorReader& a, const std::string& name_b,
                                 const VectorReader& b) {
    if (a.shape().rows != b.shape().rows || a.shape().columns != b.shape().columns)
        throw ConfigError(concat(name_a, " has ", a.shape().rows, " x ", a.shape().columns, " numbers, ", name_b, " has ",
                                 b.shape().rows, " x ", b.shape().columns,
                                 "\n  do: embed the same texts with models of the same ", "hidden_size"));
    VectorComparison comparison;
    comparison.shape = a.shape();
    add_cosines(comparison, name_a, a, name_b, b);
    add_ranks(comparison, a, b);
    return comparison;
}

}  // namespace bertpretrain
