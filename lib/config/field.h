#pragma once
// Describes settings. One list per config struct serves reading, checking, saving, overriding and explaining:
//
//     struct BatchConfig {
//         std::int64_t micro_batch_size = 16;
//         double temperature = 1;
//
//         static void describe(auto& self, auto&& field) {
//             field("micro_batch_size", self.micro_batch_size, at_least(1), "Sequences per pass.", Resume::may_change);
//             field("temperature", self.temperature, renamed("heat", above(0)), "Divides the logits.");
//         }
//     };
//
// describe() gives name, allowed values and meaning; the member's initializer is the default. A member that is itself such a
// struct is a section. A section with variants has other settings for each value of its first one.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "config/choice.h"
#include "config/weighted_paths.h"

namespace bertpretrain {

/// Whether a setting may differ from the checkpoint's when a run resumes.
enum class Resume { fixed, may_change, only_path };  ///< only_path: another path to the same files

/// A value that a setting had under another name, as older files and checkpoints have it.
struct OldChoice {
    std::string_view old_name, name;
};

/// The values that a setting may have (for a list: each element), and the names that it had before. Made by the functions below.
struct Rule {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_excluded = false;
    std::vector<std::string_view> choices{};    ///< empty: any text
    bool is_required = false;                   ///< the key must be present, and a text or list must not be empty
    std::string_view how_to_set{};              ///< advice if a required key is absent; empty: none
    bool zero_is_auto = false;                  ///< an integer that the program may choose: "auto" or null in a file, 0 here
    std::vector<std::string_view> old_names{};  ///< keys under which the setting is read too, and never written
    std::vector<OldChoice> old_choices{};       ///< texts that are read as one of `choices`, and never written

    bool holds(double value) const { return (low_excluded ? low < value : low <= value) && value <= high; }
    /// The rule for messages and help: ">= 1", "> 0", "between 0 and 1", "one of "a", "b""; "" when every value is allowed.
    std::string text() const;
};

inline constexpr Rule any{};
constexpr Rule at_least(double low) { return {.low = low}; }
constexpr Rule above(double low) { return {.low = low, .low_excluded = true}; }
constexpr Rule between(double low, double high) { return {.low = low, .high = high}; }
inline Rule one_of(std::vector<std::string_view> choices) { return {.choices = std::move(choices)}; }
/// The rule for a setting without a sensible default: required(any), required(at_least(1)).
inline Rule required(Rule rule, std::string_view how_to_set = {}) {
    rule.is_required = true;
    rule.how_to_set = how_to_set;
    return rule;
}
/// The rule for an integer above 0 that the program chooses if the file says "auto" or null. The member is 0 until then.
inline Rule or_auto(Rule rule) {
    rule.zero_is_auto = true;
    return rule;
}
/// The rule for a setting whose key was `old_name` before. Files, overrides and checkpoints with the old key keep working.
inline Rule renamed(std::string_view old_name, Rule rule) {
    rule.old_names.push_back(old_name);
    return rule;
}
/// The rule for a setting with a choice that was called `old_name` before: it is read as `name`.
inline Rule renamed_choice(std::string_view old_name, std::string_view name, Rule rule) {
    rule.old_choices.push_back({old_name, name});
    return rule;
}

/// The types that a setting may have besides a Choice, whose value here is its name. std::optional<std::int64_t> is an integer
/// that the program may choose: "auto" in a file.
using SettingValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::optional<std::string>,
                                  std::vector<double>, std::vector<std::string>, std::optional<std::int64_t>, WeightedPaths>;

/// A struct is a config when it can list its fields to a visitor.
template <class T>
concept Config = std::default_initializable<T> && requires(T config) {
    T::describe(config, [](auto&&...) {});
};

/// A section whose first setting chooses which others it has, so that describe() depends on that member.
template <class T>
concept HasVariants = Config<T> && requires(const T config) {
    { T::variants() } -> std::same_as<std::vector<T>>;         // one of each, with its defaults; the first is T{}
    { config.variant() } -> std::convertible_to<std::string>;  // the value of the first setting
};

/// The arguments of one field(...) call in describe().
struct FieldInfo {
    std::string_view name;
    const Rule& rule;
    std::string_view meaning;
    Resume resume;
};

/// Calls visit(FieldInfo, member) for each field of `config`, in the order of describe(). Does not enter sections. The rule of a
/// Choice lists its names.
template <class T>
requires Config<std::remove_const_t<T>>
void for_each_field(T& config, auto&& visit) {
    T::describe(config, [&](std::string_view name, auto& member, const Rule& rule, std::string_view meaning,
                            Resume resume = Resume::fixed) {
        using Member = std::remove_cvref_t<decltype(member)>;
        if constexpr (Choice<Member>) {
            Rule named = rule;
            named.choices.assign(choice_names<Member>.begin(), choice_names<Member>.end());
            visit(FieldInfo{name, named, meaning, resume}, member);
        } else {
            visit(FieldInfo{name, rule, meaning, resume}, member);
        }
    });
}

/// One setting: its value and its description.
struct Setting {
    std::string path;  ///< "section.key"
    SettingValue value;
    Rule rule;
    std::string meaning;
    Resume resume = Resume::fixed;
    bool is_section = false;  ///< has no value of its own; its settings follow it in the list
    std::string variant{};    ///< of the section, if only some of its variants have the setting
};

/// Which variants of a section are listed: the one that the config has, or all, each after a line of its own.
enum class Variants { chosen, all };

template <Config T>
std::vector<Setting> list_settings(const T& config, const std::string& section = "", Resume outer = Resume::fixed,
                                   Variants which = Variants::chosen);

namespace detail {

/// The settings of a section, and where `which` says so those of its other variants.
template <Config T>
std::vector<Setting> list_section(const T& config, const std::string& path, Resume resume, Variants which) {
    std::vector<Setting> all = list_settings(config, path, resume, which);
    if constexpr (HasVariants<T>) {
        const std::string choice = all.front().path.substr(path.size() + 1);
        for (std::size_t i = 1; i < all.size(); ++i) all[i].variant = config.variant();
        if (which == Variants::chosen) return all;
        for (const T& other : T::variants()) {
            if (other.variant() == config.variant()) continue;
            const std::string name = other.variant();
            all.push_back(
                {path, {}, {}, "With " + choice + " = \"" + name + "\", the section has these settings:", resume, true, name});
            std::vector<Setting> of_other = list_settings(other, path, resume, which);
            for (std::size_t i = 1; i < of_other.size(); ++i) {
                of_other[i].variant = name;
                all.push_back(std::move(of_other[i]));
            }
        }
    }
    return all;
}

}  // namespace detail

/// All settings of `config` in the order of describe(), each section before its settings. If a section may change on resume, so
/// may all of its settings.
template <Config T>
std::vector<Setting> list_settings(const T& config, const std::string& section, Resume outer, Variants which) {
    std::vector<Setting> all;
    for_each_field(config, [&](const FieldInfo& info, const auto& member) {
        using Member = std::remove_cvref_t<decltype(member)>;
        const Resume resume = outer == Resume::may_change ? outer : info.resume;
        const std::string path = section.empty() ? std::string(info.name) : section + "." + std::string(info.name);
        Setting setting{path, {}, info.rule, std::string(info.meaning), resume, Config<Member>, {}};
        if constexpr (Config<Member>) {
            all.push_back(std::move(setting));
            for (Setting& inner : detail::list_section(member, path, resume, which)) all.push_back(std::move(inner));
        } else {
            if constexpr (Choice<Member>) setting.value = std::string(name_of(member));
            else setting.value = SettingValue(std::in_place_type<Member>, member);
            all.push_back(std::move(setting));
        }
    });
    return all;
}

/// The settings of T with their defaults, those of all variants included.
template <Config T>
std::vector<Setting> list_all_settings() {
    return list_settings(T{}, "", Resume::fixed, Variants::all);
}

namespace detail {

/// Converts to any type, so that it can initialize any member.
struct AnyMember {
    template <class T>
    operator T() const;
};

template <class T, class... Members>
consteval std::size_t member_count() {
    if constexpr (requires { T{Members{}..., AnyMember{}}; }) return member_count<T, Members..., AnyMember>();
    else return sizeof...(Members);
}

}  // namespace detail

/// Returns whether describe() lists every data member exactly once, in this struct and in all of its sections.
template <Config T>
bool fully_described() {
    std::vector<const void*> addresses;
    bool complete = true;
    const T config{};
    for_each_field(config, [&](const FieldInfo&, const auto& member) {
        using Member = std::remove_cvref_t<decltype(member)>;
        for (const void* seen : addresses) complete = complete && seen != static_cast<const void*>(&member);
        addresses.push_back(&member);
        if constexpr (Config<Member>) complete = complete && fully_described<Member>();
    });
    return complete && addresses.size() == detail::member_count<T>();
}

}  // namespace bertpretrain
