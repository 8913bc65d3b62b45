#include "config/shell_assignments.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace bertpretrain::detail {
namespace {

std::string quoted(const std::string& text) {
    if (text.find('\0') != text.npos) throw ConfigError("a text holds a NUL character, which a shell cannot store; remove it");
    std::string out = "'";
    for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return out + "'";
}

std::string word(const std::string& text) { return quoted(text); }
std::string word(bool value) { return value ? "true" : "false"; }
/// JSON's notation: the shortest that gives the same number again.
std::string word(const auto& number) { return nlohmann::json(number).dump(); }

template <class Value>
std::string word(const std::optional<Value>& value) {
    return value ? word(*value) : "''";
}

template <class Element>
std::string word(const std::vector<Element>& values) {
    std::string out = "(";
    for (std::size_t i = 0; i < values.size(); ++i) out += (i > 0 ? " " : "") + word(values[i]);
    return out + ")";
}

std::string word(const WeightedPaths&) { throw std::logic_error("weighted paths have no form for shells"); }

}  // namespace

std::string shell_assignments(const std::vector<Setting>& settings) {
    std::string text;
    for (const Setting& setting : settings) {
        if (setting.is_section) continue;
        std::string name = setting.path;
        std::replace(name.begin(), name.end(), '.', '_');
        text += concat(name, "=", std::visit([](const auto& value) { return word(value); }, setting.value), "\n");
    }
    return text;
}

}  // namespace bertpretrain::detail
