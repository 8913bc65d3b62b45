#include "config/read.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/local_path.h"
#include "core/output/displayable.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

constexpr int most_levels = 32;

/// Returns nlohmann's message, beginning with the position, without its "[json.exception...]" prefix.
std::string plain_message(const json::exception& error) {
    std::string message = error.what();
    if (const std::size_t end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
    if (const std::string start = "parse error at "; message.starts_with(start)) message.erase(0, start.size());
    if (message.size() > 200) message = message.substr(0, 197) + "...";  // it quotes the text that it could not parse
    return message;
}

/// Returns the value for a message, shortened.
std::string shown(const json& value) {
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

[[noreturn]] void refuse(const std::string& where, const json& found, const std::string& expected) {
    const char* advice = found.is_null() ? "; leave the key out to use its default" : "";
    throw ConfigError(concat(where, " = ", shown(found), ": must be ", expected, advice));
}

void check_number(double value, const json& found, const Rule& rule, const std::string& where) {
    if (!std::isfinite(value) || !rule.holds(value)) refuse(where, found, rule.text());
}

void check_text(const std::string& value, const json& found, const Rule& rule, const std::string& where) {
    if (rule.is_required && value.empty()) refuse(where, found, "a text that is not empty");
    if (rule.choices.empty() || std::find(rule.choices.begin(), rule.choices.end(), value) != rule.choices.end()) return;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> synonyms{
        {{"gpu", "cuda"}, {"float32", "fp32"}, {"bfloat16", "bf16"}, {"half", "bf16"}}};
    const auto synonym = std::ranges::find(synonyms, value, &std::pair<std::string_view, std::string_view>::first);
    const bool is_known = synonym != synonyms.end() && std::ranges::find(rule.choices, synonym->second) != rule.choices.end();
    const auto guess =
        is_known ? std::optional(std::string(synonym->second)) : nearest_name(value, {rule.choices.begin(), rule.choices.end()});
    refuse(where, found, rule.text() + (guess ? "; did you mean \"" + *guess + "\"?" : ""));
}

void read(bool& value, const json& found, const Rule&, const std::string& where) {
    if (!found.is_boolean()) refuse(where, found, "true or false");
    value = found.get<bool>();
}

/// Whether `found` is an integer in JSON's notation of one, or in the notation of a double that holds it exactly (1e3, 4.0).
bool is_integer(const json& found) {
    if (found.is_number_integer()) return true;
    const double value = found.is_number_float() ? found.get<double>() : 0.5;
    return std::trunc(value) == value && std::abs(value) <= 0x1p53;
}

void read(std::int64_t& value, const json& found, const Rule& rule, const std::string& where) {
    value = 0;
    if (rule.zero_is_auto && (found.is_null() || found == "auto")) return;
    const bool too_large = found.is_number_unsigned() && found.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
    if (!is_integer(found) || too_large)
        refuse(where, found, rule.zero_is_auto ? "an integer or \"auto\"" : "an integer below 2^63");
    value = found.get<std::int64_t>();
    check_number(static_cast<double>(value), found, rule, where);
}

void read(std::uint64_t& value, const json& found, const Rule& rule, const std::string& where) {
    const bool negative = !found.is_number_unsigned() && is_integer(found) && found.get<std::int64_t>() < 0;
    if (!is_integer(found) || negative) refuse(where, found, "an integer of at least 0, below 2^64");
    value = found.get<std::uint64_t>();
    check_number(static_cast<double>(value), found, rule, where);
}

void read(double& value, const json& found, const Rule& rule, const std::string& where) {
    if (!found.is_number()) refuse(where, found, "a number");
    value = found.get<double>();
    check_number(value, found, rule, where);
}

void read(std::string& value, const json& found, const Rule& rule, const std::string& where) {
    if (!found.is_string()) refuse(where, found, "a text in double quotes");
    value = found.get<std::string>();
    if (value == "None" && rule.choices.empty())  // would be a file or a command of that name
        refuse(where, found, "a text; for no value leave the key out; None is Python's word for that, JSON's is null");
    for (const OldChoice& old : rule.old_choices)
        if (value == old.old_name) value = old.name;
    check_text(value, found, rule, where);
}

void read(std::optional<std::string>& value, const json& found, const Rule& rule, const std::string& where) {
    value.reset();
    if (found.is_null() && !rule.is_required) return;
    read(value.emplace(), found, rule, where);
}

void read(std::optional<std::int64_t>& value, const json& found, const Rule& rule, const std::string& where) {
    value.reset();
    if (found == "auto") return;
    if (!is_integer(found)) refuse(where, found, "an integer or \"auto\"");
    read(value.emplace(), found, rule, where);
}

void read(WeightedPaths& value, const json& found, const Rule&, const std::string& where) {
    value = read_weighted_paths(found, where);
}

template <class Element>
void read(std::vector<Element>& values, const json& found, const Rule& rule, const std::string& where) {
    if (!found.is_array()) refuse(where, found, "a list in [ ]");
    if (rule.is_required && found.empty()) refuse(where, found, "a list of at least one");
    values.clear();
    for (std::size_t i = 0; i < found.size(); ++i) {
        Element element{};
        read(element, found[i], rule, concat(where, "[", i, "]"));
        values.push_back(std::move(element));
    }
}

}  // namespace

json parse_settings(std::string_view text, const std::string& file) {
    std::vector<std::set<std::string>> open_sections;
    const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
        using Event = json::parse_event_t;
        if ((event == Event::object_start || event == Event::array_start) && depth >= most_levels)
            throw ConfigError(concat(file, ": nested deeper than ", most_levels, " levels; settings need at most a few"));
        if (event == Event::object_start) open_sections.emplace_back();
        if (event == Event::object_end) open_sections.pop_back();
        if (event == Event::key && !open_sections.back().insert(parsed.get<std::string>()).second)
            throw ConfigError(concat(file, ": ", shown(parsed), " is set twice in the same section; remove one"));
        return true;
    };
    try {
        return json::parse(text, watch, /*allow_exceptions=*/true, /*ignore_comments=*/true);
    } catch (const json::exception& error) { throw ConfigError(concat(file, ": ", plain_message(error))); }
}

namespace {

/// Names what users often give instead of JSON, where the parser's own message would name a single character.
void refuse_other_languages(std::string_view text, const std::filesystem::path& file) {
    const std::string ending = file.extension().string();
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
        throw ConfigError(concat(file.string(), ": is UTF-16 text, expected JSON in UTF-8\n  do: convert it, for example with ",
                                 "`iconv -f utf-16 -t utf-8`; Windows PowerShell writes UTF-16 by `>`"));
    if (ending == ".yaml" || ending == ".yml" || ending == ".toml")
        throw ConfigError(concat(file.string(), ": is ", ending.substr(1), " by its name, expected JSON\n  do: write the ",
                                 "settings as JSON; `bertpretrain config explain` lists them"));
}

/// Names a text, a vocabulary or a file of bytes that was given in place of the settings. Comments may precede their "{".
void refuse_other_content(std::string_view text, const std::filesystem::path& file) {
    constexpr std::size_t shown = 40;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const std::string_view content = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const bool is_list = content.starts_with('[') && !content.starts_with("[PAD]");  // JSON, though not a section
    if (content.empty() || content.front() == '{' || content.front() == '/' || is_list) return;
    throw ConfigError(concat(file.string(), ": begins with \"",
                             displayable(content.substr(0, std::min(content.find('\n'), shown))),
                             "\", expected settings in JSON, which begin with {\n  do: give the settings file here, such as ",
                             "configs/quickstart.json; `bertpretrain_data` reads texts and makes the shards that it names"));
}

}  // namespace

std::string load_settings_text(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file))
        throw ConfigError(concat(file.string(), ": no such settings file; check the path", start_of_relative(file)));
    if (std::filesystem::is_directory(file))
        throw ConfigError(concat(file.string(), ": is a folder, expected a settings file in JSON"));
    try {
        const std::string text = read_file(file);
        refuse_other_languages(text, file);
        return text;
    } catch (const DataError& error) { throw ConfigError(concat("the settings file cannot be read: ", error.what())); }
}

json load_settings(const std::filesystem::path& file) {
    const std::string text = load_settings_text(file);
    refuse_other_content(text, file);
    return parse_settings(text, file.string());
}

namespace detail {

const json* find_member(const json& section, std::string_view name, const Rule& rule, const std::string& where) {
    auto found = section.find(name);
    for (const std::string_view old_name : rule.old_names) {
        const auto old = section.find(old_name);
        if (old == section.end()) continue;
        if (found != section.end())
            throw ConfigError(concat(where, " is set twice, also under its old name \"", old_name, "\"; remove the old one"));
        found = old;
    }
    return found == section.end() ? nullptr : &*found;
}

bool has_value(const json& section, const std::string& name, std::string_view value) {
    const auto found = section.find(name);
    return found != section.end() && *found == value;
}

const json& empty_section() {
    static const json empty = json::object();
    return empty;
}

void read_value(SettingValue& value, const json& found, const Rule& rule, const std::string& where) {
    std::visit([&](auto& typed) { read(typed, found, rule, where); }, value);
}

void refuse_unless_section(const json& found, const std::string& where) {
    if (!found.is_object()) refuse(where, found, "a section in { }");
}

void refuse_unknown_names(const json& json, const std::vector<std::string>& keys, const std::string& section,
                          const Reading& reading, const std::map<std::string, std::string>& others) {
    for (const auto& [key, unused] : json.items()) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        const std::string path = (section.empty() ? "" : section + ".") + key;
        const auto other = others.find(key);
        const std::string advice = other != others.end() ? other->second : reading.names.advice(section, key);
        reading.refusals.attempt([&] { throw ConfigError(concat(reading.where(path), ": no such setting; ", advice)); });
    }
}

std::map<std::string, std::string> renamed_settings(const std::vector<Setting>& described) {
    std::map<std::string, std::string> renamed;
    for (const Setting& setting : described)
        for (const std::string_view old_name : setting.rule.old_names)
            renamed[setting.path.substr(0, setting.path.rfind('.') + 1) + std::string(old_name)] = setting.path;
    return renamed;
}

void refuse_missing(const std::string& where, const Rule& rule) {
    const std::string allowed = rule.text();
    if (!rule.how_to_set.empty()) throw ConfigError(concat(where, ": is not set and has no default; ", rule.how_to_set));
    throw ConfigError(concat(where, ": is not set and has no default; set it", allowed.empty() ? "" : " (" + allowed + ")"));
}

}  // namespace detail
}  // namespace bertpretrain
