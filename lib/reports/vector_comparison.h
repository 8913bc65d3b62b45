#pragma once
// Compares two files of vectors of the same texts: of two precisions, devices or versions, or of two models.

#include <cstdint>
#include <string>
#include <vector>

#include "archive/vector_reader.h"

namespace bertpretrain {

struct VectorComparison {
    MatrixShape shape;
    double mean_cosine = 0, lowest_cosine = 1;  ///< of the same row in both files; two zero rows have 1, one zero row 0
    std::int64_t lowest_row = 0;                ///< from 0; the first of equals

    /// How alike the order of the rows is by their cosine with a query row, as means over `queries` rows. Compared are at most
    /// 2,000 rows, spread evenly over the file. All are 0 if the file has fewer than three rows.
    std::int64_t queries = 0, compared_rows = 0;
    double same_nearest = 0;      ///< share of queries with the same nearest row
    double shared_nearest = 0;    ///< share of the ten nearest rows that both files have
    double rank_correlation = 0;  ///< Spearman's, over all compared rows

    /// Returns whether 1 - cosine is at most `bound` for every row.
    bool alike(double bound) const { return 1 - lowest_cosine <= bound; }
};

/// @throws ConfigError if the files have unlike shapes; DataError naming file and row of a number that is not finite
VectorComparison compare_vectors(const std::string& name_a, const VectorReader& a, const std::string& name_b,
                                 const VectorReader& b);

/// Returns Spearman's rank correlation: Pearson's of the ranks, where equal values share their mean rank. 1 if all values of
/// either side are equal. @param a,b of the same length
double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace bertpretrain
