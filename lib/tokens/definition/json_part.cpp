#include "tokens/definition/json_part.h"

#include <algorithm>

#include "core/error.h"

namespace bertpretrain {

void JsonPart::refuse(const std::string& message) const {
    throw DataError(concat(file_, ": ", path_, path_.empty() ? "" : ": ", message));
}

void JsonPart::allow(std::initializer_list<std::string_view> names) const {
    if (!value_.is_object()) refuse(concat("is ", value_.dump().substr(0, 100), ", expected an object"));
    for (const auto& [name, member] : value_.items())
        if (std::ranges::find(names, name) == names.end())
            refuse(concat("has the member \"", name, "\", which this program does not support"));
}

std::optional<JsonPart> JsonPart::find(const std::string& name) const {
    if (!value_.is_object()) refuse(concat("is ", value_.dump().substr(0, 100), ", expected an object"));
    const auto member = value_.find(name);
    if (member == value_.end() || member->is_null()) return std::nullopt;
    return JsonPart(*member, file_, concat(path_, path_.empty() ? "" : ".", name));
}

JsonPart JsonPart::at(const std::string& name) const {
    std::optional<JsonPart> member = find(name);
    if (!member) refuse(concat("has no member \"", name, "\", which is needed"));
    return *member;
}

std::vector<JsonPart> JsonPart::elements() const {
    if (!value_.is_array()) refuse(concat("is ", value_.dump().substr(0, 100), ", expected an array"));
    std::vector<JsonPart> parts;
    for (std::size_t i = 0; i < value_.size(); ++i) parts.emplace_back(value_[i], file_, concat(path_, "[", i, "]"));
    return parts;
}

std::string JsonPart::text() const {
    if (!value_.is_string()) refuse(concat("is ", value_.dump().substr(0, 100), ", expected a string"));
    return value_.get<std::string>();
}

bool JsonPart::flag() const {
    if (!value_.is_boolean()) refuse(concat("is ", value_.dump().substr(0, 100), ", expected true or false"));
    return value_.get<bool>();
}

std::int64_t JsonPart::integer() const {
    if (!value_.is_number_integer()) refuse(concat("is ", value_.dump().substr(0, 100), ", expected an integer"));
    return value_.get<std::int64_t>();
}

std::string JsonPart::text(const std::string& name, const std::string& absent) const {
    const std::optional<JsonPart> member = find(name);
    return member ? member->text() : absent;
}

bool JsonPart::flag(const std::string& name, bool absent) const {
    const std::optional<JsonPart> member = find(name);
    return member ? member->flag() : absent;
}

void JsonPart::require(const std::string& name, const nlohmann::json& expected) const {
    const std::optional<JsonPart> member = find(name);
    if (member && member->value() != expected)
        member->refuse(concat("is ", member->value().dump().substr(0, 100), "; this program supports only ", expected.dump()));
}

}  // namespace bertpretrain
