#include "core/foreign_json.h"

#include <string>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

}  // namespace

TEST_CASE("JSON of other programs is parsed, and text that is not JSON gives a discarded value") {
    CHECK(parse_foreign_json(R"({"b": [1, {"a": null}]})").at("b").at(1).at("a").is_null());
    CHECK(parse_foreign_json<nlohmann::ordered_json>(R"({"b": 1, "a": 2})").begin().key() == "b");
    for (const char* text : {"", "{", "[1,]", "{\"a\"}", "nul"}) CHECK(parse_foreign_json(text).is_discarded());
}

TEST_CASE("JSON is discarded where it is nested deeper than a program can copy it, and brackets in strings do not count") {
    CHECK_FALSE(parse_foreign_json(nested(200)).is_discarded());
    CHECK(parse_foreign_json(nested(201)).is_discarded());
    CHECK(parse_foreign_json(nested(1'000'000)).is_discarded());
    CHECK(parse_foreign_json(R"({"a": ")" + std::string(1000, '{') + R"(\"[[[\\", "b": 1})").at("b") == 1);
    std::string wide = "[0";
    for (int i = 0; i < 10'000; ++i) wide += ",[{\"a\":[]}]";
    CHECK(parse_foreign_json(wide + "]").size() == 10'001);
}
