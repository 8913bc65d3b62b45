#pragma once
// A set of strings as paths of bytes from one root, in two arrays: each step is one look-up.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// A double-array trie. Immutable. Source: Aoe 1989, "An Efficient Digital Search Algorithm by Using a Double-Array
/// Structure", with exclusive or in place of the sum, so that a block of 256 places holds all children of a state.
class ByteTrie {
public:
    using State = std::uint32_t;
    static constexpr State root = 0, none = ~State{0};

    struct Step {
        State from;
        unsigned char byte;
        State to;
    };

    ByteTrie() = default;  ///< no key
    /// @param keys distinct, not empty, in ascending order of their bytes
    /// @param visit called for every step of the trie, those nearer the root first
    ByteTrie(const std::vector<std::string_view>& keys, const std::function<void(const Step&)>& visit);

    /// Where `byte` leads from `state`, or none.
    State child(State state, unsigned char byte) const {
        const State place = places_[state].base ^ byte;
        return places_[place].parent == state ? place : none;
    }
    /// A number above every state.
    std::size_t size() const { return places_.size(); }

private:
    struct Place {
        State base = 0;       ///< the child by byte b is at base ^ b
        State parent = none;  ///< the state whose child lives here
    };
    std::vector<Place> places_ = std::vector<Place>(256);
};

}  // namespace bertpretrain
