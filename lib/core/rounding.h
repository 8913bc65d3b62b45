#pragma once

#include <type_traits>

namespace bertpretrain {

/// Returns the smallest multiple of `multiple` that is at least `value`, both of them integers that are not negative.
template <class Integer>
constexpr Integer rounded_up(Integer value, std::type_identity_t<Integer> multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace bertpretrain
