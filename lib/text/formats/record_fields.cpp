#include "text/formats/record_fields.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_names = 10;

std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        names.emplace_back(stripped(std::string_view(text).substr(begin, end - begin)));  // "title, body"
        begin = end + 1;
    }
    return names;
}

/// The first fields of a record and of the objects in it, but not of those in arrays, for messages. A record may have any number
/// of fields, so no more are kept.
class Outline : public nlohmann::json_sax<nlohmann::json> {
public:
    static constexpr std::size_t most_fields = 1000, most_levels = 100;

    struct Field {
        std::size_t object;  ///< index of the object that it is in
        std::string name;
        bool is_object = false;
        std::optional<std::size_t> text_bytes{};  ///< if it is a text
    };

    explicit Outline(std::string_view record) { nlohmann::json::sax_parse(record.begin(), record.end(), this); }

    /// By index, in the order of the record; the first one stands for the record.
    const std::vector<Field>& fields() const { return fields_; }
    std::optional<std::size_t> find(std::size_t object, std::string_view name) const {
        for (std::size_t i = 1; i < fields_.size(); ++i)
            if (fields_[i].object == object && fields_[i].name == name) return i;
        return std::nullopt;
    }
    bool is_inside(std::size_t field, std::size_t object) const {
        while (field != 0 && fields_[field].object != object) field = fields_[field].object;
        return field != 0;
    }
    /// Returns a field's name with those of its objects and dots between them.
    std::string path_of(std::size_t field) const {
        std::string path = fields_[field].name;
        while ((field = fields_[field].object) != 0) path = concat(fields_[field].name, ".", path);
        return path;
    }
    /// Returns the longest text inside of an object, which is most likely the one that is wanted.
    std::optional<std::size_t> longest_text(std::size_t object, bool is_deep) const {
        std::optional<std::size_t> longest;
        for (std::size_t i = 1; i < fields_.size(); ++i)
            if (fields_[i].text_bytes && is_inside(i, object) && !(is_deep && fields_[i].object == object) &&
                (!longest || *fields_[i].text_bytes > *fields_[*longest].text_bytes))
                longest = i;
        return longest;
    }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool string(string_t& text) override {
        if (arrays_ == 0 && !open_.empty()) fields_.back().text_bytes = text.size();
        return true;
    }
    bool start_object(std::size_t) override {
        if (arrays_ > 0) return true;
        if (fields_.empty()) fields_.push_back({0, "", true, {}});
        fields_.back().is_object = true;
        open_.push_back(fields_.size() - 1);
        return open_.size() < most_levels;
    }
    bool end_object() override {
        if (arrays_ == 0) open_.pop_back();
        return true;
    }
    bool key(string_t& name) override {
        if (arrays_ == 0) fields_.push_back({open_.back(), name, false, {}});
        return fields_.size() < most_fields;
    }
    bool start_array(std::size_t) override {
        ++arrays_;
        return true;
    }
    bool end_array() override {
        --arrays_;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    std::vector<Field> fields_;
    std::vector<std::size_t> open_;  ///< the objects around the current value
    std::size_t arrays_ = 0;         ///< open ones
};

std::string names_in(const Outline& record, std::size_t object) {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < record.fields().size() && names.size() <= most_names; ++i)
        if (record.fields()[i].object == object && record.find(object, record.fields()[i].name) == i)
            names.push_back(record.fields()[i].name);
    const bool has_more = names.size() > most_names;
    if (has_more) names.pop_back();
    return displayable(join(names)) + (has_more ? ", ..." : "");
}

/// "; "product" is an object with the fields title, body: --text-field product.body", or an empty text.
std::string inside_of(const Outline& record, std::size_t object, std::string_view option) {
    const std::optional<std::size_t> text = record.longest_text(object, false);
    const std::string found =
        concat("\"", displayable(record.path_of(object)), "\" is an object with the fields ", names_in(record, object));
    return text ? concat(found, ": ", option, " ", displayable(record.path_of(*text))) : found;
}

/// Returns the object with the name.
std::optional<std::size_t> object_named(const Outline& record, std::string_view name) {
    std::size_t object = 0;
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = std::min(name.find('.', begin), name.size());
        const auto field = record.find(object, name.substr(begin, end - begin));
        if (!field || !record.fields()[*field].is_object) return std::nullopt;
        object = *field;
        begin = end + 1;
    }
    return object;
}

/// Returns the object that begins a name with dots, such as "product" of "product.titel", or of all fields the one with the
/// longest text.
std::optional<std::size_t> object_for(const Outline& record, const std::string& name) {
    for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1))
        if (const auto object = object_named(record, std::string_view(name).substr(0, dot))) return object;
    std::optional<std::size_t> found = record.longest_text(0, true);
    while (found && record.fields()[*found].object != 0) found = record.fields()[*found].object;
    return found;
}

/// Returns what jq calls a field: `.a.b`, or `.["my-field"]`.
std::string jq_name(const std::string& name, bool is_whole) {
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    std::string path = ".";
    for (std::size_t begin = 0; begin <= name.size();) {
        const std::size_t end = is_whole ? name.size() : std::min(name.find('.', begin), name.size());
        path += concat("[", nlohmann::json(name.substr(begin, end - begin)).dump(-1, ' ', false, replace), "]");
        begin = end + 1;
    }
    std::string quoted;
    for (const char c : path) quoted += c == '\'' ? "'\\''" : std::string(1, c);  // inside of a shell's single quotes
    return displayable(quoted);
}

}  // namespace

std::vector<std::string> text_fields(const std::string& text, const std::function<bool(const std::string&)>& exists) {
    return exists(text) ? std::vector<std::string>{text} : split_names(text);
}

void check_text_fields(const std::string& text) {
    const std::vector<std::string> names = split_names(text);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty())
            throw ConfigError(concat("--text-field \"", text, "\": has an empty name, expected names with commas between them"));
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i))
            throw ConfigError(concat("--text-field \"", text, "\": names \"", names[i], "\" twice"));
    }
}

std::string missing_field(std::string_view record, const std::string& name, std::string_view option) {
    const Outline outline(record);
    const std::optional<std::size_t> inner = object_for(outline, name);
    return concat("has no field \"", name,
                  option == "--id-field" ? "\" of --id-field, only: " : "\", only: ", names_in(outline, 0),
                  inner ? "; " + inside_of(outline, *inner, option) : "");
}

std::string other_field(std::string_view record, const std::string& name, std::string_view option, std::string_view kind) {
    const std::string found = concat("its field \"", name, "\" is ", kind);
    const Outline outline(record);
    if (kind == "an array")
        return concat(found, ", expected a string; jq -c '.text = (", jq_name(name, outline.find(0, name).has_value()),
                      " | join(\"\\n\"))' makes one of it");
    const std::optional<std::size_t> inner = kind == "an object" ? object_named(outline, name) : std::nullopt;
    return inner ? concat(found, ", expected a string; ", inside_of(outline, *inner, option)) : found + ", expected a string";
}

}  // namespace bertpretrain
