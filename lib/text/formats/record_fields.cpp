#include "text/formats/record_fields.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

using Record = nlohmann::ordered_json;
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

std::string names_in(const Record& object) {
    std::vector<std::string> names;
    for (auto field = object.begin(); field != object.end() && names.size() < most_names; ++field) names.push_back(field.key());
    return displayable(join(names)) + (object.size() > most_names ? ", ..." : "");
}

/// The longest text inside objects, which is most likely the one that is wanted.
struct LongestText {
    std::string name;  ///< with dots; empty: there is none
    std::size_t size = 0;

    void search(const Record& object, const std::string& prefix) {
        for (const auto& [key, value] : object.items()) {
            const std::string path = prefix + key;
            if (value.is_object()) search(value, path + ".");
            if (!value.is_string() || (!name.empty() && value.get_ref<const std::string&>().size() <= size)) continue;
            name = path;
            size = value.get_ref<const std::string&>().size();
        }
    }
};

/// "; "product" is an object with the fields title, body: --text-field product.body", or an empty text.
std::string inside_of(const Record& object, const std::string& name, std::string_view option) {
    LongestText text;
    text.search(object, name + ".");
    const std::string found = concat("\"", displayable(name), "\" is an object with the fields ", names_in(object));
    return text.name.empty() ? found : concat(found, ": ", option, " ", displayable(text.name));
}

/// Returns the object that begins a name with dots, such as "product" of "product.titel", or of all fields the one with the
/// longest text; null: none.
const Record* object_for(const Record& record, std::string& name) {
    for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
        const Record* object = &record;
        for (std::size_t begin = 0; object != nullptr && begin <= dot;) {
            const std::size_t end = name.find('.', begin);
            const auto field = object->find(name.substr(begin, end - begin));
            object = field != object->end() && field->is_object() ? &*field : nullptr;
            begin = end + 1;
        }
        if (object == nullptr) continue;
        name.resize(dot);
        return object;
    }
    LongestText text;
    for (const auto& [key, value] : record.items())
        if (value.is_object()) text.search(value, key + ".");
    name = text.name.substr(0, text.name.find('.'));
    const auto field = record.find(name);
    return text.name.empty() || field == record.end() ? nullptr : &*field;
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
    const Record object = Record::parse(record, nullptr, false);
    const std::string missing =
        concat("has no field \"", name, option == "--id-field" ? "\" of --id-field, only: " : "\", only: ");
    if (!object.is_object()) return missing;
    std::string outer = name;
    const Record* inner = object_for(object, outer);
    return concat(missing, names_in(object), inner == nullptr ? "" : "; " + inside_of(*inner, outer, option));
}

std::string other_field(std::string_view record, const std::string& name, std::string_view option, std::string_view kind) {
    const std::string found = concat("its field \"", name, "\" is ", kind);
    if (kind == "an array")
        return concat(found, ", expected a string; jq -c '.text = (.", displayable(name), " | join(\"\\n\"))' makes one of it");
    const Record object = Record::parse(record, nullptr, false);
    if (kind != "an object" || !object.is_object()) return found + ", expected a string";
    std::string outer = name + ".";
    const Record* inner = object_for(object, outer);
    return inner == nullptr || outer != name ? found + ", expected a string"
                                             : concat(found, ", expected a string; ", inside_of(*inner, outer, option));
}

}  // namespace bertpretrain
