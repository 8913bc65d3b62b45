#include "tokens/definition/bert_template.h"

#include <utility>

namespace bertpretrain {

nlohmann::ordered_json bert_template(const TemplateToken& cls, const TemplateToken& sep) {
    using Json = nlohmann::ordered_json;
    const auto special = [](const TemplateToken& token, int type) {
        return Json{{"SpecialToken", {{"id", token.text}, {"type_id", type}}}};
    };
    const auto sequence = [](const char* id, int type) { return Json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
    const auto entry = [](const TemplateToken& token) {
        return Json{{"id", token.text}, {"ids", Json::array({token.id})}, {"tokens", Json::array({token.text})}};
    };
    Json tokens = Json::object();
    tokens[cls.text] = entry(cls);
    tokens[sep.text] = entry(sep);
    return {{"type", "TemplateProcessing"},
            {"single", Json::array({special(cls, 0), sequence("A", 0), special(sep, 0)})},
            {"pair", Json::array({special(cls, 0), sequence("A", 0), special(sep, 0), sequence("B", 1), special(sep, 1)})},
            {"special_tokens", std::move(tokens)}};
}

}  // namespace bertpretrain
