#pragma once
// How a setting is described. One list per config struct serves reading, checking, saving, overriding and explaining:
//
//     struct BatchConfig {
//         std::int64_t micro_batch_size = 16;
//         double temperature = 1;
//
//         static void describe(auto& self, auto&& field) {
//             field("micro_batch_size", self.micro_batch_size, at_least(1), "Sequences in one pass.", Resume::may_change);
//             field("temperature", self.temperature, above(0), "What it divides by.");
//         }
//     };
//
// Name, allowed values and meaning stand in describe(), the default stands at the member. A member that is itself such a
// struct is a section.

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

namespace bertpretrain {

/// Whether a setting may differ when a run goes on from a checkpoint.
enum class Resume { fixed, may_change };

/// Which values a setting may have; on a list it holds for each element. Made by the functions below.
struct Rule {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_excluded = false;
    std::vector<std::string_view> choices{};  ///< empty: any text
    bool is_required = false;                 ///< the key must be there, and a text or list must not be empty

    bool holds(double value) const { return (low_excluded ? low < value : low <= value) && value <= high; }
    /// As messages and help print it: ">= 1", "> 0", "between 0 and 1", "one of "a", "b""; "" when everything is allowed.
    std::string text() const;
};

inline constexpr Rule any{};
constexpr Rule at_least(double low) { return {.low = low}; }
constexpr Rule above(double low) { return {.low = low, .low_excluded = true}; }
constexpr Rule between(double low, double high) { return {.low = low, .high = high}; }
inline Rule one_of(std::vector<std::string_view> choices) { return {.choices = std::move(choices)}; }
/// The rule, for a setting that has no sensible default: required(any), required(at_least(1)).
inline Rule required(Rule rule) {
    rule.is_required = true;
    return rule;
}

/// The types that a setting may have. An integer that may be left to the program is written "auto" then.
using SettingValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::optional<std::string>,
                                  std::vector<double>, std::vector<std::string>, std::optional<std::int64_t>>;

/// A struct is a config when it can list its fields to a visitor.
template <class T>
concept Config = std::default_initializable<T> && requires(T config) {
    T::describe(config, [](auto&&...) {});
};

/// What describe() says of one field.
struct FieldInfo {
    std::string_view name;
    const Rule& rule;
    std::string_view meaning;
    Resume resume;
};

/// Calls visit(FieldInfo, member) for each field of `config`, in the order of describe(); sections are not entered.
template <class T>
requires Config<std::remove_const_t<T>>
void for_each_field(T& config, auto&& visit) {
    T::describe(config, [&](std::string_view name, auto& member, const Rule& rule, std::string_view meaning,
                            Resume resume = Resume::fixed) {
        visit(FieldInfo{name, rule, meaning, resume}, member);
    });
}

/// One setting with everything that is known of it.
struct Setting {
    std::string path;  ///< "section.key"
    SettingValue value;
    Rule rule;
    std::string meaning;
    Resume resume = Resume::fixed;
    bool is_section = false;  ///< only path and meaning count; its settings follow
};

/// All settings of `config` in order, each section before what it holds. A section that may change on resume passes this on.
template <Config T>
std::vector<Setting> list_settings(const T& config, const std::string& section = "", Resume outer = Resume::fixed) {
    std::vector<Setting> all;
    for_each_field(config, [&](const FieldInfo& info, const auto& member) {
        using Member = std::remove_cvref_t<decltype(member)>;
        const Resume resume = outer == Resume::may_change ? outer : info.resume;
        const std::string path = section.empty() ? std::string(info.name) : section + "." + std::string(info.name);
        Setting setting{path, {}, info.rule, std::string(info.meaning), resume, Config<Member>};
        if constexpr (Config<Member>) {
            all.push_back(std::move(setting));
            for (Setting& inner : list_settings(member, path, resume)) all.push_back(std::move(inner));
        } else {
            setting.value = SettingValue(std::in_place_type<Member>, member);
            all.push_back(std::move(setting));
        }
    });
    return all;
}

namespace detail {

/// Takes the place of any member's initial value.
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

/// True when describe() lists every data member once, here and in all sections, so that no setting can be forgotten.
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
