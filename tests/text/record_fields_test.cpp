#include "text/formats/record_fields.h"

#include "core/concat.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("the message about an array has jq's name of the field, with any characters in it") {
    const auto advice = [](const std::string& record, const std::string& name) {
        const std::string message = other_field(record, name, "--text-field", "an array");
        return message.substr(message.find("(.") + 1, message.find(" | join") - message.find("(.") - 1);
    };
    CHECK(advice(R"({"my-field": []})", "my-field") == R"(.["my-field"])");
    CHECK(advice(R"({"a": {"b c": []}})", "a.b c") == R"(.["a"]["b c"])");
    CHECK(advice(R"({"a.b": []})", "a.b") == R"(.["a.b"])");
    CHECK(advice(R"({"it's \"it\"": []})", "it's \"it\"") == R"(.["it'\''s \"it\""])");
}

TEST_CASE("a record without the field is described by its first fields and its longest text, in their order") {
    const auto described = [](const std::string& record) { return missing_field(record, "text", "--text-field"); };
    CHECK(described("{}") == "has no field \"text\", only: ");
    CHECK(described(R"({"b": 1, "a": 2, "b": 3})") == "has no field \"text\", only: b, a");
    CHECK(described(R"({"z": "the longest one", "o": {"x": "longer", "i": {"y": "longest"}, "l": [{"w": "not this one"}]}})") ==
          "has no field \"text\", only: z, o; \"o\" is an object with the fields x, i, l: --text-field o.i.y");
}

TEST_CASE("a record with very many fields or levels is described in short time and bounded memory") {
    std::string wide = "{", deep, end;
    for (int i = 0; i < 50'000; ++i) wide += concat(i > 0 ? "," : "", "\"f", i, "\": 1");
    CHECK(missing_field(wide + "}", "text", "--text-field") ==
          "has no field \"text\", only: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, ...");
    for (int i = 0; i < 200'000; ++i) deep += "{\"a\":", end += "}";
    CHECK(missing_field(deep + "\"x\"" + end, "text", "--text-field") == "has no field \"text\", only: a");
}
