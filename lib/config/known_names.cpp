#include "config/known_names.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// The section of a path; "" at the top level.
std::string section_of(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == path.npos ? "" : path.substr(0, dot);
}
std::string key_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

std::string lower_with_underscores(std::string name) {
    for (char& letter : name) letter = letter == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return name;
}

/// Returns the keys that `name` shortens: it is their beginning, in at least three letters.
std::vector<std::string> beginning_with(const std::string& name, const std::vector<std::string>& keys) {
    std::vector<std::string> longer;
    for (const std::string& key : keys)
        if (name.size() >= 3 && key.starts_with(name)) longer.push_back(key);
    return longer;
}

std::string question(std::string_view path) { return concat("did you mean ", path, "?"); }

}  // namespace

KnownNames::KnownNames(const std::vector<Setting>& settings, std::span<const ForeignName> foreign) : foreign_(foreign) {
    for (const Setting& setting : settings)
        if (std::ranges::find(paths_, setting.path) == paths_.end()) paths_.push_back(setting.path);
}

std::vector<std::string> KnownNames::keys_of(const std::string& section) const {
    std::vector<std::string> keys;
    for (const std::string& path : paths_)
        if (section_of(path) == section) keys.push_back(key_of(path));
    return keys;
}

std::string KnownNames::guess(const std::string& section, const std::string& key) const {
    const std::string plain = lower_with_underscores(key);
    for (const ForeignName& foreign : foreign_) {
        if (foreign.name != plain) continue;
        if (foreign.path.empty()) return std::string(foreign.advice);
        return question(foreign.path) + (foreign.advice.empty() ? "" : concat(" (", foreign.advice, ")"));
    }
    std::vector<std::string> keys, same_key;
    for (const std::string& path : paths_) {
        keys.push_back(key_of(path));
        if (keys.back() == plain) same_key.push_back(path);
    }
    if (!same_key.empty()) return question(join(same_key, " or "));
    const std::vector<std::string> neighbours = keys_of(section);
    if (const auto near = nearest_name(plain, neighbours)) return question(section.empty() ? *near : section + "." + *near);
    if (const std::vector<std::string> longer = beginning_with(plain, neighbours); longer.size() == 1)
        return question(section.empty() ? longer.front() : section + "." + longer.front());
    if (const auto near = nearest_name(plain, keys))
        return question(paths_[static_cast<std::size_t>(std::find(keys.begin(), keys.end(), *near) - keys.begin())]);
    return "";
}

std::string KnownNames::advice(const std::string& section, const std::string& key) const {
    if (std::string guessed = guess(section, key); !guessed.empty()) return guessed;
    return "there are: " + join(keys_of(section));
}

std::string KnownNames::advice_on_path(const std::string& path) const { return guess(section_of(path), key_of(path)); }

}  // namespace bertpretrain
