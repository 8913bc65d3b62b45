#include "config/foreign_fields.h"

#include <algorithm>

#include "core/concat.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string refusal_of(const ForeignField& field, const json& value, const json& harmless) {
    std::vector<std::string> supported;
    for (const json& one : harmless) supported.push_back(text_of(one));
    constexpr std::size_t longest = 100;
    return concat(field.name, " is ", text_of(value).substr(0, longest), ", which this program does not support; ",
                  supported.empty() ? "expected a file without this field" : concat("expected ", join(supported, " or ")));
}

}  // namespace

std::vector<std::string> check_foreign_fields(const nlohmann::json& object, std::span<const ForeignField> table,
                                              const std::function<void(const std::string& message)>& refuse) {
    std::vector<std::string> unknown;
    for (const auto& [name, value] : object.items()) {
        const auto field = std::ranges::find(table, name, &ForeignField::name);
        if (field == table.end()) unknown.push_back(name);
        if (field == table.end() || field->effect != ForeignField::Effect::refused || value.is_null()) continue;
        const json harmless = json::parse(field->harmless);
        if (std::ranges::find(harmless, value) == harmless.end()) refuse(refusal_of(*field, value, harmless));
    }
    return unknown;
}

}  // namespace bertpretrain
