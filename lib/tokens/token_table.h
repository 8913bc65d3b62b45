#pragma once
// A hash table from short byte strings to ids, for lookups that take most of the time of tokenization.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// A hash table with open addressing. The keys are stored in one concatenated string.
class TokenTable {
public:
    static constexpr std::int32_t none = -1;

    /// Adds a key that is not in the table.
    void add(std::string_view key, std::int32_t id) {
        if (2 * ++size_ > slots_.size()) grow();
        const std::uint32_t hash = hash_of(key);
        slots_[free_slot(hash)] = {hash, static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(key.size()), id};
        bytes_ += key;
    }
    /// Returns the id of `key`, or none.
    std::int32_t find(std::string_view key) const {
        const std::uint32_t hash = hash_of(key);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = hash & mask; slots_[i].id != none; i = (i + 1) & mask) {
            const Slot& slot = slots_[i];
            if (slot.hash == hash && slot.size == key.size() &&
                std::memcmp(bytes_.data() + slot.begin, key.data(), slot.size) == 0)
                return slot.id;
        }
        return none;
    }

private:
    struct Slot {
        std::uint32_t hash = 0, begin = 0, size = 0;
        std::int32_t id = none;
    };

    static std::uint32_t hash_of(std::string_view key) {
        std::uint64_t hash = key.size() * 0x9E3779B97F4A7C15;
        const char* at = key.data();
        std::size_t left = key.size();
        const auto mix = [&](std::uint64_t word) {
            hash = (hash ^ word) * 0xD6E8FEB86659FD93;
            hash ^= hash >> 32;
        };
        for (std::uint64_t word = 0; left >= sizeof word; at += sizeof word, left -= sizeof word) {
            std::memcpy(&word, at, sizeof word);
            mix(word);
        }
        std::uint64_t rest = 0;
        for (; left > 0; --left) rest = rest << 8 | static_cast<unsigned char>(*at++);
        mix(rest);
        return static_cast<std::uint32_t>(hash);
    }
    std::size_t free_slot(std::uint32_t hash) const {
        std::size_t i = hash & (slots_.size() - 1);
        while (slots_[i].id != none) i = (i + 1) & (slots_.size() - 1);
        return i;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.id != none) slots_[free_slot(slot.hash)] = slot;
    }

    std::vector<Slot> slots_ = std::vector<Slot>(1024);  ///< its size is a power of two
    std::string bytes_;
    std::size_t size_ = 0;
};

}  // namespace bertpretrain
