#include "tokens/models/symbol_merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

namespace bertpretrain {
namespace {

constexpr std::uint32_t low_symbols = 512;  // bytes and the first merges, in almost every file

bool are_low(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint32_t>(left) < low_symbols && static_cast<std::uint32_t>(right) < low_symbols;
}
std::size_t low_index(std::int32_t left, std::int32_t right) {
    return static_cast<std::size_t>(left) * low_symbols + static_cast<std::size_t>(right);
}

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

/// A merge of two symbols that was possible when it was queued.
struct QueuedMerge {
    std::uint32_t left, right;  ///< indices of the symbols
    bool operator<(const QueuedMerge& other) const { return left < other.left; }
};

/// The queued merges of one pair of symbols, of which the first `done` are done.
struct QueuedPair {
    std::int32_t left_id, right_id, merged;
    std::vector<QueuedMerge> merges{};
    std::size_t done = 0;
    bool is_sorted = true;

    void push(QueuedMerge merge) {
        is_sorted = is_sorted && (merges.size() == done || merges.back() < merge);
        merges.push_back(merge);
    }
    /// Returns the leftmost merge that is not done.
    QueuedMerge pop() {
        if (!is_sorted) std::sort(merges.begin() + static_cast<std::ptrdiff_t>(done), merges.end());
        is_sorted = true;
        return merges[done++];
    }
};

}  // namespace

SymbolMerges::SymbolMerges(std::size_t expected)
    : slots_(std::bit_ceil(2 * expected + 2)), low_pairs_(std::size_t{low_symbols} * low_symbols) {}

std::size_t SymbolMerges::slot_of(std::uint64_t pair) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t product = pair * 0x9E3779B97F4A7C15;  // its upper half depends on both symbols
    std::size_t slot = (product ^ product >> 32) & mask;
    while (slots_[slot].pair != pair && slots_[slot].pair != ~std::uint64_t{0}) slot = (slot + 1) & mask;
    return slot;
}

void SymbolMerges::add(std::int32_t left, std::int32_t right, std::uint32_t rank, std::int32_t merged) {
    const Merge merge{rank, merged};
    const std::uint64_t pair = pair_key(left, right);
    if (are_low(left, right)) low_pairs_[low_index(left, right)] = merge;
    else slots_[slot_of(pair)] = {pair, merge};
}

/// Returns the merge of a pair; its rank is no_rank if there is none.
inline SymbolMerges::Merge SymbolMerges::find(std::int32_t left, std::int32_t right) const {
    if (are_low(left, right)) return low_pairs_[low_index(left, right)];
    return slots_[slot_of(pair_key(left, right))].merge;
}

void SymbolMerges::apply(std::vector<std::int32_t>& symbols, std::size_t begin) const {
    const std::size_t size = symbols.size() - begin;
    if (size < 2) return;
    const std::size_t left =
        size <= longest_short ? apply_to_short(symbols.data() + begin, size) : apply_to_long(symbols.data() + begin, size);
    symbols.resize(begin + left);
}

/// Merges in place. Returns the number of symbols left.
std::size_t SymbolMerges::apply_to_short(std::int32_t* symbols, std::size_t size) const {
    std::array<std::uint32_t, longest_short> ranks;  // of each symbol and the next
    std::array<std::int32_t, longest_short> merged;
    const auto look_up = [&](std::size_t i) {
        const Merge merge = find(symbols[i], symbols[i + 1]);
        ranks[i] = merge.rank;
        merged[i] = merge.merged;
    };
    for (std::size_t i = 0; i + 1 < size; ++i) look_up(i);
    for (; size > 1; --size) {
        const std::size_t best =
            static_cast<std::size_t>(std::min_element(ranks.begin(), ranks.begin() + (size - 1)) - ranks.begin());
        if (ranks[best] == no_rank) break;
        symbols[best] = merged[best];
        std::copy(symbols + best + 2, symbols + size, symbols + best + 1);
        std::copy(ranks.begin() + best + 1, ranks.begin() + (size - 1), ranks.begin() + best);
        std::copy(merged.begin() + best + 1, merged.begin() + (size - 1), merged.begin() + best);
        if (best + 2 < size) look_up(best);
        if (best > 0) look_up(best - 1);
    }
    return size;
}

/// The same for words of any length, with a queue of the pairs by rank and a linked list of symbols. Most merges of a pair are
/// queued from left to right, so that this takes about linear time.
std::size_t SymbolMerges::apply_to_long(std::int32_t* symbols, std::size_t size) const {
    constexpr std::int32_t removed = -1;
    constexpr std::uint32_t end = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> next(size), previous(size);
    std::map<std::uint32_t, QueuedPair> queue;
    const auto push = [&](std::uint32_t left, std::uint32_t right) {
        if (left == end || right == end) return;
        const Merge merge = find(symbols[left], symbols[right]);
        if (merge.rank == no_rank) return;
        queue.try_emplace(merge.rank, QueuedPair{symbols[left], symbols[right], merge.merged}).first->second.push({left, right});
    };
    for (std::uint32_t i = 0; i < size; ++i) {
        next[i] = i + 1 < size ? i + 1 : end;
        previous[i] = i > 0 ? i - 1 : end;
        push(previous[i], i);
    }
    while (!queue.empty()) {
        QueuedPair& pair = queue.begin()->second;
        if (pair.done == pair.merges.size()) {
            queue.erase(queue.begin());
            continue;
        }
        const auto [left, right] = pair.pop();
        if (symbols[left] != pair.left_id || symbols[right] != pair.right_id || next[left] != right) continue;
        symbols[left] = pair.merged;
        symbols[right] = removed;
        next[left] = next[right];
        if (next[left] != end) previous[next[left]] = left;
        push(previous[left], left);
        push(left, next[left]);
    }
    return static_cast<std::size_t>(std::remove(symbols, symbols + size, removed) - symbols);
}

}  // namespace bertpretrain
