#include "text/formats/json_shape.h"

#include <string>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

std::string lines_of_kind(const std::string& line, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += line + "\n";
    return text;
}

JsonShape shape_of(const std::string& text) { return json_shape(text, true); }

}  // namespace

TEST_CASE("a file of which most lines are JSON objects is JSONL, regardless of its first line") {
    const std::string records = lines_of_kind(R"({"id": 1, "text": "A heron."})", 40);
    for (const char* first : {"", "# A remark.\n", "he end of a record that was cut\"}\n", "// one\n\n// two\n", ")]}'\n",
                              "\xEF\xBB\xBF\n", "{\"text\": \"cut\n", "[1, 2]\n", "id,text\n"})
        CHECK(shape_of(first + records) == JsonShape::lines);
    CHECK(shape_of(records + "the last line is cut {\"te") == JsonShape::lines);
    CHECK(shape_of(std::string(6000, 'a') + "\n" + records) == JsonShape::lines);
    CHECK(shape_of(lines_of_kind("a licence", 30) + records) == JsonShape::lines);
    CHECK(shape_of(lines_of_kind("prose", 41) + records) == JsonShape::none);
    CHECK(shape_of("{}\n") == JsonShape::lines);
    CHECK(json_shape("a remark\n{\"text\": \"longer than the head", false) == JsonShape::lines);
}

TEST_CASE("JSON of other shapes is recognized") {
    CHECK(shape_of("\x1E{\"text\": \"A.\"}\n\x1E{\"text\": \"B.\"}\n") == JsonShape::sequence);
    CHECK(shape_of("\x1E{\n \"text\": \"A.\"\n}\n") == JsonShape::sequence);
    CHECK(shape_of("[\n {\"text\": \"A.\"}]") == JsonShape::array);
    CHECK(shape_of("[\n{\"text\": \"A.\"},\n{\"text\": \"B.\"},\n{\"text\": \"C.\"}\n]\n") == JsonShape::array);
    CHECK(shape_of("[{\"text\": \"A.\"}, {\"text\": \"B.\"}]") == JsonShape::array);
    CHECK(shape_of("[\"A.\",\n \"B.\"]\n") == JsonShape::array);
    CHECK(json_shape("[\n\"A.\",\n \"B.\",\n \"cu", false) == JsonShape::array);
    CHECK(shape_of("{\n  \"text\": \"A.\"\n}\n{\n  \"text\": \"B.\"\n}\n") == JsonShape::several_lines);
    CHECK(shape_of("{\"text\": \"A.\"}{\"text\": \"B.\"}") == JsonShape::several_lines);
    CHECK(shape_of("{\"text\": \"A.\"},\n{\"text\": \"B.\"},\n{\"text\": \"C.\"}\n") == JsonShape::commas);
    CHECK(shape_of("[\"1\", \"A.\"]\n[\"2\", \"B.\"]\n") == JsonShape::arrays);
    CHECK(shape_of("\"A.\"\n\"B\\n.\"\n\"C.\"\n") == JsonShape::strings);
    CHECK(shape_of("{'text': 'A.'}\n{'text': 'B.'}\n") == JsonShape::not_quite);
    CHECK(shape_of(lines_of_kind("{\"text\": \"A. \"quoted\" B.\"}", 9) + "{\"text\": \"A.\"}\n") == JsonShape::not_quite);
}

TEST_CASE("text, markup and code are no JSON, although they have brackets and quotes") {
    for (const char* text : {"",
                             "\n\n",
                             "A text.\n",
                             "{not json}\n",
                             "{\"quoted\" text\n",
                             "[1] A note.\n[2] A note.\n",
                             "[[wiki]] link\n",
                             "[\"A quote\"](link) in Markdown.\n",
                             "\"Hello,\" he said.\n\"Yes.\"\n",
                             "\"A.\"\n\"B.\"\n",
                             "[a]\n[b]\n",
                             "{1, 2},\n{3, 4},\n",
                             "{\"a\", 1},\n{\"b\", 2},\n",
                             "{{template}}\n",
                             "{\n  int a = \"b\": 1;\n}\n",
                             "[1]\n[2]\n",
                             "{% raw %}\n",
                             "{ pkgs, lib }:\n",
                             "42\n43\n",
                             "null\n",
                             "[section]\nkey = \"value\"\n"})
        CHECK(shape_of(text) == JsonShape::none);
}
