#include "reports/nearest_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/threads/threads.h"

// Compiles a function for several instruction sets; the loader takes the widest. Sanitizers start too late for that.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BERTPRETRAIN_WIDE_VECTORS [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define BERTPRETRAIN_WIDE_VECTORS
#endif

namespace bertpretrain {
namespace {

constexpr std::size_t lanes = 16, queries_at_once = 4;
constexpr std::int64_t block_bytes = std::int64_t{1} << 18;  // stays in a core's cache while all queries use it
constexpr float smallest_norm = 1e-12F;

/// Computes the products of a row with four vectors.
BERTPRETRAIN_WIDE_VECTORS void dot_four(const float* row, const std::array<const float*, queries_at_once>& vectors,
                                        std::size_t columns, float* dots) {
    float sums[queries_at_once][lanes] = {};
    std::size_t c = 0;
    for (; c + lanes <= columns; c += lanes)
        for (std::size_t q = 0; q < queries_at_once; ++q)
            for (std::size_t l = 0; l < lanes; ++l) sums[q][l] += row[c + l] * vectors[q][c + l];
    for (std::size_t q = 0; q < queries_at_once; ++q) {
        float sum = 0;
        for (const float lane : sums[q]) sum += lane;
        for (std::size_t i = c; i < columns; ++i) sum += row[i] * vectors[q][i];
        dots[q] = sum;
    }
}

/// Returns the product of two vectors.
BERTPRETRAIN_WIDE_VECTORS float dot_one(const float* a, const float* b, std::size_t columns) {
    float sums[4][lanes] = {};
    std::size_t c = 0;
    for (; c + 4 * lanes <= columns; c += 4 * lanes)
        for (std::size_t part = 0; part < 4; ++part)
            for (std::size_t l = 0; l < lanes; ++l) sums[part][l] += a[c + part * lanes + l] * b[c + part * lanes + l];
    float sum = 0;
    for (std::size_t l = 0; l < lanes; ++l) sum += (sums[0][l] + sums[1][l]) + (sums[2][l] + sums[3][l]);
    for (; c < columns; ++c) sum += a[c] * b[c];
    return sum;
}

bool better(const NearRow& a, const NearRow& b) { return a.score > b.score || (a.score == b.score && a.row < b.row); }

/// The best rows of one query so far, as a heap whose front is the worst of them.
void keep_best(std::vector<NearRow>& best, std::size_t count, NearRow found) {
    if (best.size() == count) {
        if (!better(found, best.front())) return;
        std::pop_heap(best.begin(), best.end(), better);
        best.back() = found;
    } else {
        best.push_back(found);
    }
    std::push_heap(best.begin(), best.end(), better);
}

class Search {
public:
    Search(const VectorReader& vectors, const std::vector<NearestQuery>& queries, const NearestSettings& settings)
        : vectors_(vectors), settings_(settings), columns_(static_cast<std::size_t>(vectors.shape().columns)) {
        if (settings.centers) find_center();
        for (const NearestQuery& query : queries) {
            if (!std::ranges::all_of(query.vector, [](float value) { return std::isfinite(value); }))
                throw DataError(concat("the vector of query ", own_rows_.size(), ", from 0, has a number that is not finite",
                                       "\n  do: make the queries' vectors again"));
            own_rows_.push_back(query.own_row);
            prepared_.insert(prepared_.end(), query.vector.begin(), query.vector.end());
            prepare(std::span(prepared_).last(columns_));
        }
    }

    std::vector<std::vector<NearRow>> run() {
        using Best = std::vector<std::vector<NearRow>>;
        constexpr std::size_t tasks_per_thread = 4;
        const std::int64_t rows = vectors_.shape().rows;
        const auto tasks = static_cast<std::int64_t>(std::max<std::size_t>(1, settings_.threads * tasks_per_thread));
        std::vector<Best> parts(static_cast<std::size_t>(tasks), Best(own_rows_.size()));
        for_each_index(parts.size(), settings_.threads, [&](std::size_t task) {
            const auto t = static_cast<std::int64_t>(task);
            each_block(rows * t / tasks, rows * (t + 1) / tasks,
                       [&](std::int64_t first, std::span<const float> block) { score(first, block, parts[task]); });
        });
        if (not_finite_ < rows)
            throw DataError(concat("row ", not_finite_.load(), " of the vectors, from 0, has a score that is not finite",
                                   "\n  do: make the vectors again"));
        Best best(own_rows_.size());
        for (std::size_t q = 0; q < best.size(); ++q) {
            for (const Best& part : parts) best[q].insert(best[q].end(), part[q].begin(), part[q].end());
            std::ranges::sort(best[q], better);
            best[q].resize(std::min(best[q].size(), static_cast<std::size_t>(settings_.count)));
        }
        return best;
    }

private:
    /// Calls use(first, rows) for the rows [begin, end) of the file, some at a time, without the center.
    template <class Use>
    void each_block(std::int64_t begin, std::int64_t end, Use&& use) const {
        const std::int64_t at_once = std::max<std::int64_t>(1, block_bytes / static_cast<std::int64_t>(columns_ * sizeof(float)));
        const std::span<const float> mapped = vectors_.mapped();
        std::vector<float> copy;
        for (std::int64_t first = begin; first < end; first += at_once) {
            const auto size = static_cast<std::size_t>(std::min(at_once, end - first)) * columns_;
            std::span<const float> block;
            if (!mapped.empty()) block = mapped.subspan(static_cast<std::size_t>(first) * columns_, size);
            if (mapped.empty() || !center_.empty()) copy.resize(size);
            if (mapped.empty()) {
                vectors_.read(first, copy);
                block = copy;
            }
            if (!center_.empty()) {
                for (std::size_t i = 0; i < size; i += columns_)
                    for (std::size_t c = 0; c < columns_; ++c) copy[i + c] = block[i + c] - center_[c];
                block = copy;
            }
            use(first, block);
        }
    }

    void find_center() {
        std::vector<double> sums(columns_, 0);
        each_block(0, vectors_.shape().rows, [&](std::int64_t, std::span<const float> block) {
            for (std::size_t i = 0; i < block.size(); i += columns_)
                for (std::size_t c = 0; c < columns_; ++c) sums[c] += static_cast<double>(block[i + c]);
        });
        for (const double sum : sums) center_.push_back(static_cast<float>(sum / static_cast<double>(vectors_.shape().rows)));
    }

    void prepare(std::span<float> query) const {
        for (std::size_t c = 0; c < center_.size(); ++c) query[c] -= center_[c];
        if (settings_.by == Similarity::dot) return;
        const float norm = std::max(std::sqrt(dot_one(query.data(), query.data(), columns_)), smallest_norm);
        for (float& value : query) value /= norm;
    }

    void score(std::int64_t first, std::span<const float> block, std::vector<std::vector<NearRow>>& best) {
        const std::size_t rows = block.size() / columns_;
        std::vector<float> scales(rows, 1);
        for (std::size_t r = 0; r < rows && settings_.by == Similarity::cosine; ++r) {
            const float* row = block.data() + r * columns_;
            const float norm = std::sqrt(dot_one(row, row, columns_));
            if (!std::isfinite(norm)) note_not_finite(first + static_cast<std::int64_t>(r));
            scales[r] = 1 / std::max(norm, smallest_norm);
        }
        for (std::size_t q = 0; q < own_rows_.size(); q += queries_at_once)
            for (std::size_t r = 0; r < rows; ++r)
                score_row(block.data() + r * columns_, first + static_cast<std::int64_t>(r), scales[r], q, best);
    }

    /// Scores a row for up to four queries.
    void score_row(const float* row, std::int64_t number, float scale, std::size_t q, std::vector<std::vector<NearRow>>& best) {
        const std::size_t count = std::min(queries_at_once, own_rows_.size() - q);
        float dots[queries_at_once];
        std::array<const float*, queries_at_once> chosen{};
        for (std::size_t i = 0; i < queries_at_once; ++i) chosen[i] = prepared_.data() + (q + std::min(i, count - 1)) * columns_;
        if (count == 1) dots[0] = dot_one(row, chosen[0], columns_);
        else dot_four(row, chosen, columns_, dots);
        for (std::size_t i = 0; i < count; ++i) {
            if (!std::isfinite(dots[i])) note_not_finite(number);
            else if (const float score = dots[i] * scale; own_rows_[q + i] != number && score >= settings_.least_score)
                keep_best(best[q + i], static_cast<std::size_t>(settings_.count), {number, score});
        }
    }

    void note_not_finite(std::int64_t row) {
        std::int64_t found = not_finite_;
        while (row < found && !not_finite_.compare_exchange_weak(found, row)) continue;
    }

    const VectorReader& vectors_;
    NearestSettings settings_;
    std::size_t columns_;
    std::vector<float> center_, prepared_;
    std::vector<std::int64_t> own_rows_;
    std::atomic<std::int64_t> not_finite_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

std::vector<std::vector<NearRow>> nearest_rows(const VectorReader& vectors, const std::vector<NearestQuery>& queries,
                                               const NearestSettings& settings) {
    for (const NearestQuery& query : queries)
        check(static_cast<std::int64_t>(query.vector.size()) == vectors.shape().columns, "a query has another length");
    return Search(vectors, queries, settings).run();
}

}  // namespace bertpretrain
