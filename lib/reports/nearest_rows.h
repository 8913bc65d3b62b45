#pragma once
// Finds the rows of a matrix of vectors that are most similar to given vectors: all rows are compared.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "archive/vector_reader.h"

namespace bertpretrain {

enum class Similarity { cosine, dot };

struct NearestSettings {
    Similarity by = Similarity::cosine;
    std::int64_t count = 10;  ///< rows per query; fewer only if no more have the least score
    bool centers = false;     ///< whether the mean of all rows is subtracted from rows and queries first
    std::size_t threads = 1;
    float least_score = -std::numeric_limits<float>::infinity();  ///< rows with a lower score are left out
};

struct NearRow {
    std::int64_t row = 0;
    float score = 0;
};

/// A query is a vector, and the row that it is itself, which is left out; -1: none.
struct NearestQuery {
    std::span<const float> vector;
    std::int64_t own_row = -1;
};

/// Returns for each query the rows with the highest scores, the best first, of equal ones the first row. A row of zeros has the
/// cosine 0. Besides the rows that it returns, it keeps a block of the file per thread. Sums are in fp32; the result does not
/// depend on the number of threads. Reads the file once, or twice to center.
/// @throws DataError naming the first row whose score is not finite; also errors of VectorReader::read()
std::vector<std::vector<NearRow>> nearest_rows(const VectorReader& vectors, const std::vector<NearestQuery>& queries,
                                               const NearestSettings& settings);

}  // namespace bertpretrain
