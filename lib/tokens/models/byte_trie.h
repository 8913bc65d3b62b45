#pragma once
// An immutable double-array trie over bytes: each transition costs one array lookup.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// A set of byte strings. States are indices into one array. Immutable, so safe to read from several threads.
/// Source: Aoe 1989, "An Efficient Digital Search Algorithm by Using a Double-Array Structure", but with XOR instead of
/// addition, so that all children of a state lie in one block of 256 entries.
class ByteTrie {
public:
    using State = std::uint32_t;
    static constexpr State root = 0, none = ~State{0};

    struct Step {
        State from;
        unsigned char byte;
        State to;
    };

    ByteTrie() = default;  ///< an empty set
    /// @param keys distinct, non-empty, sorted by bytes
    /// @param visit called once for every transition, in breadth-first order from the root
    ByteTrie(const std::vector<std::string_view>& keys, const std::function<void(const Step&)>& visit);

    /// Returns the child of `state` by `byte`, or `none`.
    State child(State state, unsigned char byte) const {
        const State place = places_[state].base ^ byte;
        return places_[place].parent == state ? place : none;
    }
    /// Returns an upper bound: every state is < size().
    std::size_t size() const { return places_.size(); }

private:
    struct Place {
        State base = 0;       ///< the child by byte b is at index base ^ b
        State parent = none;  ///< the state whose child is at this index, or none if the entry is free
    };
    std::vector<Place> places_ = std::vector<Place>(256);
};

}  // namespace bertpretrain
