#include "config/foreign_fields.h"

#include "support/catch.h"

using namespace bertpretrain;
using nlohmann::json;

namespace {

constexpr ForeignField fields[] = {{"length", ForeignField::Effect::obeyed},
                                   {"comment", ForeignField::Effect::nothing},
                                   {"is_decoder", ForeignField::Effect::refused, "[false]"},
                                   {"code", ForeignField::Effect::refused, R"([{}, "none"])"}};

/// Returns the refusals of an object, which do not end the check here.
std::vector<std::string> refusals(const json& object) {
    std::vector<std::string> messages;
    check_foreign_fields(object, fields, [&](const std::string& message) { messages.push_back(message); });
    return messages;
}

}  // namespace

TEST_CASE("a field that is refused is named with its value and the harmless ones") {
    CHECK(refusals({{"is_decoder", true}}) ==
          std::vector<std::string>{"is_decoder is true, which this program does not support; expected false"});
    CHECK(refusals({{"code", {{"a", 1}}}}).at(0) ==
          R"(code is {"a":1}, which this program does not support; expected {} or "none")");
}

TEST_CASE("harmless values, null, and fields that are obeyed or change nothing are accepted; unknown ones are returned") {
    CHECK(refusals({{"is_decoder", false}, {"code", nullptr}, {"length", 3}, {"comment", {1, 2}}}).empty());
    const auto accept = [](const std::string&) {};
    CHECK(check_foreign_fields({{"x", 1}, {"length", 2}}, fields, accept) == std::vector<std::string>{"x"});
}
