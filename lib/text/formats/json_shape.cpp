#include "text/formats/json_shape.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "text/white_space.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

constexpr std::size_t most_json_lines = 1000;
constexpr std::string_view record_separator = "\x1E";

bool is_json(std::string_view text) { return json::accept(text.begin(), text.end()); }

/// Whether the text begins with `{`, a key between `quote`s, and a colon.
bool begins_with_key(std::string_view text, char quote) {
    const std::size_t key = text.starts_with('{') ? text.find_first_not_of(ascii_white_space, 1) : std::string_view::npos;
    if (key == std::string_view::npos || text[key] != quote) return false;
    std::size_t end = key + 1;
    while (end < text.size() && text[end] != quote && text[end] != '\n') end += text[end] == '\\' ? 2U : 1U;
    const std::size_t colon = end < text.size() ? text.find_first_not_of(" \t", end + 1) : end;
    return colon < text.size() && text[colon] == ':';
}

struct LineCounts {
    std::size_t lines = 0, objects = 0, commas = 0, arrays = 0, strings = 0, joined = 0, not_quite = 0;
    bool has_escapes = false;  ///< whether a string has one

    bool are_most(std::size_t count) const { return 2 * count > lines; }

    void add(std::string_view line) {
        ++lines;
        const bool has_comma = line.ends_with(',');
        const std::string_view value = has_comma ? stripped(line.substr(0, line.size() - 1)) : line;
        if (line.front() == '{') {
            const bool ends = value.ends_with('}');
            if (ends && is_json(value)) ++(has_comma ? commas : objects);
            else if (ends && begins_with_key(value, '"') && (value.find("}{") < value.size() || value.find("} {") < value.size()))
                ++joined;
            else if (ends && (begins_with_key(value, '"') || begins_with_key(value, '\''))) ++not_quite;
        } else if (line.front() == '[') {
            if (value.find_first_of("\"{") != std::string_view::npos && is_json(value)) ++arrays;
        } else if (line.front() == '"' && is_json(value)) {
            ++strings;
            has_escapes = has_escapes || value.find('\\') != std::string_view::npos;
        }
    }
};

LineCounts count_lines(std::string_view head, bool is_whole) {
    LineCounts counts;
    while (!head.empty() && counts.lines < most_json_lines) {
        const std::size_t end = head.find('\n');
        std::string_view line = stripped(head.substr(0, end));
        const bool is_cut = end == std::string_view::npos && !is_whole;
        head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
        if (line.starts_with(record_separator)) line = stripped(line.substr(1));
        if (line.empty()) continue;
        if (!is_cut) counts.add(line);
        else if (begins_json_object(line)) ++counts.lines, ++counts.objects;
    }
    return counts;
}

/// Whether the text is an array of strings or arrays, or begins as one.
bool begins_array(std::string_view text, bool is_whole) {
    const std::string_view first = text.starts_with('[') ? trimmed_start(text.substr(1)) : std::string_view();
    if (begins_json_object(first)) return true;
    if (!first.starts_with('"') && !first.starts_with('[')) return false;
    struct ErrorPlace : nlohmann::json_sax<json> {
        std::size_t position = 0;
        bool null() override { return true; }
        bool boolean(bool) override { return true; }
        bool number_integer(number_integer_t) override { return true; }
        bool number_unsigned(number_unsigned_t) override { return true; }
        bool number_float(number_float_t, const string_t&) override { return true; }
        bool string(string_t&) override { return true; }
        bool binary(binary_t&) override { return true; }
        bool start_object(std::size_t) override { return true; }
        bool key(string_t&) override { return true; }
        bool end_object() override { return true; }
        bool start_array(std::size_t) override { return true; }
        bool end_array() override { return true; }
        bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
            position = at;
            return false;
        }
    } place;
    return json::sax_parse(text.begin(), text.end(), &place) || (!is_whole && place.position > text.size());
}

}  // namespace

bool begins_json_object(std::string_view text) {
    if (!text.starts_with('{')) return false;
    const std::size_t key = text.find_first_not_of(ascii_white_space, 1);
    return (key != std::string_view::npos && text[key] == '}') || begins_with_key(text, '"');
}

JsonShape json_shape(std::string_view head, bool is_whole) {
    const std::string_view text = trimmed_start(head);
    if (text.starts_with(record_separator) && begins_json_object(trimmed_start(text.substr(1)))) return JsonShape::sequence;
    const LineCounts counts = count_lines(text, is_whole);
    if (counts.lines > 0) {
        if (2 * counts.objects >= counts.lines) return JsonShape::lines;
        if (counts.are_most(counts.objects + counts.commas)) return text.starts_with('[') ? JsonShape::array : JsonShape::commas;
        if (counts.are_most(counts.arrays)) return counts.lines == 1 ? JsonShape::array : JsonShape::arrays;
        if (counts.are_most(counts.strings) && counts.has_escapes) return JsonShape::strings;
        if (counts.are_most(counts.objects + counts.joined)) return JsonShape::several_lines;
        if (counts.are_most(counts.objects + counts.not_quite)) return JsonShape::not_quite;
    }
    if (begins_array(text, is_whole)) return JsonShape::array;
    if (!begins_json_object(text)) return JsonShape::none;
    const std::string_view line = stripped(text.substr(0, text.find('\n')));
    if (line.ends_with('}')) return is_json(line) ? JsonShape::lines : JsonShape::none;
    return JsonShape::several_lines;
}

}  // namespace bertpretrain
