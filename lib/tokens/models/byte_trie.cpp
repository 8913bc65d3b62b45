#include "tokens/models/byte_trie.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::size_t block_size = 256;        // the indices of one state's children differ in their lowest byte only
constexpr std::size_t places_looked_at = 512;  // then a new block is added: bounds the time, leaves some entries unused

/// Tracks which entries hold a state.
class TakenPlaces {
public:
    std::size_t size() const { return taken_.size(); }
    void take(std::size_t place) { taken_[place] = true; }

    /// Returns a base for which base ^ b is free for all of `bytes`. Adds a block where the search finds none.
    std::uint32_t base_for(const std::vector<unsigned char>& bytes) {
        while (first_free_ < taken_.size() && taken_[first_free_]) ++first_free_;
        const std::size_t end = std::min(taken_.size(), first_free_ + places_looked_at);
        for (std::size_t place = first_free_; place < end; ++place)
            if (const std::size_t base = place ^ bytes[0]; all_free(base, bytes)) return static_cast<std::uint32_t>(base);
        const std::size_t base = taken_.size();
        check(base < std::numeric_limits<std::uint32_t>::max() - block_size, "states are 32-bit indices");
        taken_.resize(base + block_size);
        return static_cast<std::uint32_t>(base);
    }

private:
    bool all_free(std::size_t base, const std::vector<unsigned char>& bytes) const {
        return std::none_of(bytes.begin(), bytes.end(), [&](unsigned char byte) { return taken_[base ^ byte]; });
    }

    std::vector<bool> taken_;
    std::size_t first_free_ = 0;
};

/// A state whose children have no index yet. Keys [begin, end) share its prefix of `depth` bytes.
struct Open {
    ByteTrie::State state;
    std::size_t begin, end, depth;
};

}  // namespace

ByteTrie::ByteTrie(const std::vector<std::string_view>& keys, const std::function<void(const Step&)>& visit) {
    TakenPlaces taken;
    taken.base_for({0});  // adds the first block
    taken.take(root);
    std::queue<Open> open;
    open.push({root, 0, keys.size(), 0});
    std::vector<unsigned char> bytes;
    std::vector<std::size_t> begins;  // index of the first key with each byte, then the end of the last range
    for (; !open.empty(); open.pop()) {
        const Open parent = open.front();
        bytes.clear();
        begins.clear();
        for (std::size_t i = parent.begin; i < parent.end; ++i) {
            if (keys[i].size() == parent.depth) continue;  // this key ends at the parent
            const auto byte = static_cast<unsigned char>(keys[i][parent.depth]);
            if (!bytes.empty() && bytes.back() == byte) continue;
            bytes.push_back(byte);
            begins.push_back(i);
        }
        if (bytes.empty()) continue;
        begins.push_back(parent.end);
        const State base = taken.base_for(bytes);
        places_.resize(taken.size());
        places_[parent.state].base = base;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const State child = base ^ bytes[i];
            taken.take(child);
            places_[child].parent = parent.state;
            visit({parent.state, bytes[i], child});
            open.push({child, begins[i], begins[i + 1], parent.depth + 1});
        }
    }
}

}  // namespace bertpretrain
