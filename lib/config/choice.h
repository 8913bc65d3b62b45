#pragma once
// Settings with a fixed list of values are enums. Their names in files are listed once, next to the enum:
//
//     enum class OnSaveError { retry, stop };
//     template <>
//     inline constexpr auto choice_names<OnSaveError> = choices("retry", "stop");

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace bertpretrain {

/// The names of an enum's values in files, in the order of the enumerators, which count from 0.
template <class E>
inline constexpr std::array<std::string_view, 0> choice_names{};

constexpr auto choices(auto... names) { return std::array{std::string_view(names)...}; }

/// An enum with names.
template <class E>
concept Choice = std::is_enum_v<E> && !choice_names<E>.empty();

template <Choice E>
constexpr std::string_view name_of(E value) {
    return choice_names<E>.at(static_cast<std::size_t>(value));
}

/// Returns the value with this name. @param name one of choice_names<E>
template <Choice E>
constexpr E choice_named(std::string_view name) {
    std::size_t index = 0;
    while (choice_names<E>.at(index) != name) ++index;
    return static_cast<E>(index);
}

}  // namespace bertpretrain
