#include "tokens/models/pair_merges.h"

#include <utility>

namespace bertpretrain {
namespace {

/// Packs both symbols into one number that sorts like (left, right).
std::uint64_t key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

PairMerges::Occurrences& PairMerges::Pairs::operator[](std::uint64_t pair) {
    const std::size_t slot = slot_of(pair);
    if (slots_[slot] != 0) return occurrences_[slots_[slot] - 1];
    occurrences_.push_back({.pair = pair, .words = {}});
    slots_[slot] = static_cast<std::uint32_t>(occurrences_.size());
    if (2 * occurrences_.size() > slots_.size()) {
        slots_.assign(2 * slots_.size(), 0);
        for (std::size_t i = 0; i < occurrences_.size(); ++i)
            slots_[slot_of(occurrences_[i].pair)] = static_cast<std::uint32_t>(i + 1);
    }
    return occurrences_.back();
}

/// Returns the pair's slot, or the free slot to insert it into.
std::size_t PairMerges::Pairs::slot_of(std::uint64_t pair) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t product = pair * 0x9E3779B97F4A7C15;  // its upper half depends on both symbols
    std::size_t slot = (product ^ product >> 32) & mask;
    while (slots_[slot] != 0 && occurrences_[slots_[slot] - 1].pair != pair) slot = (slot + 1) & mask;
    return slot;
}

void PairMerges::add_word(const std::vector<std::int32_t>& symbols, std::int64_t count) {
    const auto word = static_cast<std::uint32_t>(words_.size());
    words_.push_back({symbols_.size(), static_cast<std::uint32_t>(symbols.size()), count});
    symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
    for (std::size_t i = 1; i < symbols.size(); ++i) gain(symbols[i - 1], symbols[i], word);
}

std::optional<PairMerges::Best> PairMerges::most_frequent() {
    for (const std::uint64_t pair : grown_) {
        Occurrences& occurrences = pairs_[pair];
        occurrences.has_grown = false;
        queue_.push({occurrences.count, pair});
    }
    grown_.clear();
    while (!queue_.empty()) {
        const Candidate candidate = queue_.top();
        const std::int64_t count_now = pairs_[candidate.pair].count;
        if (candidate.count == count_now && count_now > 0)
            return Best{{static_cast<std::int32_t>(candidate.pair >> 32), static_cast<std::int32_t>(candidate.pair)}, count_now};
        queue_.pop();
        if (count_now > 0 && count_now < candidate.count) queue_.push({count_now, candidate.pair});
    }
    return std::nullopt;
}

void PairMerges::merge(SymbolPair pair, std::int32_t merged) {
    const std::vector<std::uint32_t> words = std::exchange(pairs_[key(pair.left, pair.right)].words, {});
    for (const std::uint32_t word : words) merge_in_word(word, pair, merged);
    pairs_[key(pair.left, pair.right)].count = 0;  // runs such as "aaa" have already lowered it
}

void PairMerges::merge_in_word(std::uint32_t index, SymbolPair pair, std::int32_t merged) {
    Word& word = words_[index];
    std::int32_t* const symbols = symbols_.data() + word.begin;
    std::uint32_t written = 0;
    for (std::uint32_t read = 0; read < word.size; ++read) {
        if (read + 1 == word.size || symbols[read] != pair.left || symbols[read + 1] != pair.right) {
            symbols[written++] = symbols[read];
            continue;
        }
        ++read;
        if (written > 0) {
            lose(symbols[written - 1], pair.left, word.count);
            gain(symbols[written - 1], merged, index);
        }
        if (read + 1 < word.size) {
            lose(pair.right, symbols[read + 1], word.count);
            gain(merged, symbols[read + 1], index);
        }
        symbols[written++] = merged;
    }
    word.size = written;
}

void PairMerges::lose(std::int32_t left, std::int32_t right, std::int64_t count) { pairs_[key(left, right)].count -= count; }

void PairMerges::gain(std::int32_t left, std::int32_t right, std::uint32_t word) {
    Occurrences& occurrences = pairs_[key(left, right)];
    occurrences.count += words_[word].count;
    if (occurrences.words.empty() || occurrences.words.back() != word) occurrences.words.push_back(word);
    if (!std::exchange(occurrences.has_grown, true)) grown_.push_back(key(left, right));
}

}  // namespace bertpretrain
