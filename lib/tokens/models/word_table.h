#pragma once
// A hash table of word counts in two arrays, because lookups take most of the time to count a corpus.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// A hash table with open addressing. The words are stored in one concatenated string.
class WordTable {
public:
    void add(std::string_view word, std::int64_t count) {
        const std::uint64_t hash = std::hash<std::string_view>()(word);
        Slot& slot = slots_[slot_of(word, hash)];
        if (slot.count == 0) {
            slot = {hash, bytes_.size(), word.size(), 0};
            bytes_ += word;
            ++size_;
        }
        slot.count += count;
        if (2 * size_ > slots_.size()) grow();
    }
    /// Returns the number of distinct words.
    std::size_t size() const { return size_; }
    /// Returns how many slots the slowest lookup of a word reads.
    std::size_t longest_search() const {
        std::size_t longest = 0;
        for (std::size_t i = 0; i < slots_.size(); ++i)
            if (slots_[i].count != 0) longest = std::max(longest, ((i - first_slot(slots_[i].hash)) & (slots_.size() - 1)) + 1);
        return longest;
    }

    /// Calls visit(word, count) for each word, in no particular order.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const Slot& slot : slots_)
            if (slot.count != 0) visit(word_of(slot), slot.count);
    }

private:
    struct Slot {
        std::uint64_t hash = 0;
        std::size_t begin = 0, size = 0;
        std::int64_t count = 0;  ///< 0: the slot is free
    };

    std::string_view word_of(const Slot& slot) const { return std::string_view(bytes_).substr(slot.begin, slot.size); }

    /// Depends on all bits of the hash, because a caller may divide words among tables by some of them.
    std::size_t first_slot(std::uint64_t hash) const {
        const std::uint64_t product = hash * 0x9E3779B97F4A7C15;
        return (product ^ product >> 32) & (slots_.size() - 1);
    }

    /// Returns the word's slot, or the free slot to insert it into.
    std::size_t slot_of(std::string_view word, std::uint64_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = first_slot(hash);
        while (slots_[i].count != 0 && (slots_[i].hash != hash || word_of(slots_[i]) != word)) i = (i + 1) & mask;
        return i;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.count != 0) slots_[slot_of(word_of(slot), slot.hash)] = slot;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(1024);  ///< its size is a power of two
    std::string bytes_;
    std::size_t size_ = 0;
};

}  // namespace bertpretrain
