#pragma once
// Guesses which setting an unknown name means.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.h"

namespace bertpretrain {

/// A name that other programs use for a setting. A config type may list them: static std::span<const ForeignName>
/// foreign_names().
struct ForeignName {
    std::string_view name;      ///< lower case, with underscores
    std::string_view path;      ///< the setting here; empty: there is none
    std::string_view advice{};  ///< what else to know; must be given where `path` is empty
};

/// Returns where the setting of a path is written: "FILE: phases[1].section.key", "--set section.key".
using NamePlace = std::function<std::string(const std::string& path)>;

/// All names of one config type.
class KnownNames {
public:
    KnownNames(const std::vector<Setting>& settings, std::span<const ForeignName> foreign);

    /// Returns the end of a message about an unknown key of a section ("" for the top level): "did you mean optimizer.betas?", or
    /// the names that the section has.
    std::string advice(const std::string& section, const std::string& key) const;

    /// Returns the end of a message about an unknown path: "did you mean optimizer.betas?"; empty without a guess.
    std::string advice_on_path(const std::string& path) const;

private:
    std::vector<std::string> keys_of(const std::string& section) const;
    /// As advice(); empty without a guess.
    std::string guess(const std::string& section, const std::string& key) const;

    std::vector<std::string> paths_;
    std::span<const ForeignName> foreign_;
};

/// The names of a config type.
template <Config T>
KnownNames known_names() {
    if constexpr (requires { T::foreign_names(); }) return {list_all_settings<T>(), T::foreign_names()};
    else return {list_all_settings<T>(), {}};
}

}  // namespace bertpretrain
