#include "shards/check/common_passages.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <span>

#include "shards/check/shard_statistics.h"

namespace bertpretrain {
namespace {

constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;
constexpr std::size_t most_filter_words = std::size_t{1} << 20;  // 8 MiB, which caches hold

constexpr std::uint64_t power(std::size_t exponent) {
    std::uint64_t product = 1;
    while (exponent-- > 0) product *= factor;
    return product;
}

/// Makes each bit depend on all bits of a polynomial hash. Never 0, which marks an empty slot.
std::uint64_t finished(std::uint64_t sum) {
    sum = (sum ^ (sum >> 32)) * 0xD6E8FEB86659FD93;
    sum = (sum ^ (sum >> 29)) * 0xA0761D6478BD642F;
    return std::max<std::uint64_t>(1, sum ^ (sum >> 32));
}

/// Calls visit(hash) for each passage of a segment. The hash of the next passage follows from the last in two multiplications.
template <class Visit>
void for_each_passage_of(std::span<const std::int32_t> segment, Visit&& visit) {
    constexpr std::size_t size = PassageSample::passage_tokens;
    constexpr std::uint64_t factor_of_last = power(size);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        sum = sum * factor + static_cast<std::uint64_t>(segment[i]) + 1;
        if (i >= size) sum -= (static_cast<std::uint64_t>(segment[i - size]) + 1) * factor_of_last;
        if (i + 1 >= size) visit(finished(sum));
    }
}

/// Calls visit(hash, is_own) for each passage of a row. Segments lie between the special tokens that the row begins and ends
/// with. A random second segment is not of the row's own document.
template <class Visit>
void for_each_passage(const ShardRows& rows, std::int64_t row, Visit&& visit) {
    const std::span tokens =
        std::span(rows.input_ids_RS)
            .subspan(static_cast<std::size_t>(row * rows.sequence_length), static_cast<std::size_t>(row_length(rows, row)));
    const bool has_random_segment =
        !rows.next_sentence_labels_R.empty() && rows.next_sentence_labels_R[static_cast<std::size_t>(row)] == 1;
    bool is_own = true;
    for (std::size_t begin = 0, end = 0; end < tokens.size(); ++end) {
        if (tokens[end] != tokens.front() && tokens[end] != tokens.back()) continue;
        for_each_passage_of(tokens.subspan(begin, end - begin), [&](std::uint64_t hash) { visit(hash, is_own); });
        if (has_random_segment && end > 0) is_own = false;
        begin = end + 1;
    }
}

}  // namespace

void PassageSample::add(ShardKind kind, const ShardRows& rows) {
    for (std::int64_t r = 0; r < rows.rows; ++r) {
        Row row{kind, passages_.size(), passages_.size(), 0};
        for_each_passage(rows, r, [&](std::uint64_t hash, bool is_own) {
            passages_.push_back(hash);
            if (is_own) row.own_end = passages_.size();
        });
        row.end = passages_.size();
        if (row.end > row.begin) rows_.push_back(row);
    }
}

void PassageSample::seal() {
    const std::size_t size = std::bit_ceil(passages_.size() + passages_.size() / 2 + 1);
    filter_.resize(std::min(most_filter_words, std::bit_ceil(passages_.size() / 4 + 1)));  // 16 bits per passage
    slots_.resize(size);
    occurrences_.resize(size);
    is_trained_.resize(size);
    for (std::uint64_t& passage : passages_) {
        filter_[passage / 64 % filter_.size()] |= std::uint64_t{1} << passage % 64;
        const std::size_t slot = slot_of(passage);
        slots_[slot] = passage;
        passage = slot;
    }
}

/// Returns the slot of a passage, or the empty one in which it would be put.
std::size_t PassageSample::slot_of(std::uint64_t passage) const {
    const std::size_t last = slots_.size() - 1;
    std::size_t slot = (passage >> 26) & last;
    while (slots_[slot] != 0 && slots_[slot] != passage) slot = (slot + 1) & last;
    return slot;
}

void PassageSample::count(ShardKind kind, const ShardRows& rows) {
    const auto count_one = [&](std::uint64_t passage, bool is_own) {
        if ((filter_[passage / 64 % filter_.size()] >> passage % 64 & 1) == 0) return;
        const std::size_t slot = slot_of(passage);
        if (slots_[slot] == 0) return;
        if (kind == ShardKind::training) std::atomic_ref(is_trained_[slot]).store(1, std::memory_order_relaxed);
        if (is_own) std::atomic_ref(occurrences_[slot]).fetch_add(1, std::memory_order_relaxed);
    };
    for (std::int64_t r = 0; r < rows.rows; ++r) for_each_passage(rows, r, count_one);
}

CommonPassages PassageSample::result(std::optional<std::int64_t> passes) const {
    CommonPassages found;
    for (const Row& row : rows_) {
        const auto count_of = [&](std::size_t end, const auto& holds) {
            return std::count_if(passages_.begin() + static_cast<std::ptrdiff_t>(row.begin),
                                 passages_.begin() + static_cast<std::ptrdiff_t>(end), holds);
        };
        const auto trained = count_of(row.end, [&](std::uint64_t slot) { return is_trained_[slot] != 0; });
        if (row.kind == ShardKind::held_out) {
            ++found.held_out_rows;
            found.with_a_trained += trained > 0;
            found.mostly_trained += 2 * trained > static_cast<std::int64_t>(row.end - row.begin);
        }
        if (!passes || row.own_end == row.begin) continue;
        const auto repeated = count_of(row.own_end, [&](std::uint64_t slot) { return occurrences_[slot] > *passes; });
        ++found.rows;
        found.mostly_repeated += 2 * repeated > static_cast<std::int64_t>(row.own_end - row.begin);
    }
    return found;
}

}  // namespace bertpretrain
