#include "config/read.h"

#include <nlohmann/json.hpp>

#include "config/sample_config.h"
#include "config/write.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using Catch::Matchers::Equals;

namespace {

struct NeedsAdvice {
    std::string shards;
    static void describe(auto& self, auto&& field) { field("shards", self.shards, required(any, "make some"), "Samples."); }
};

/// Reads a sample whose required shards are given, beside what `text` sets.
SampleConfig read_sample(const std::string& text) {
    auto json = parse_settings(text, "run.json");
    if (json.is_object() && !json.contains("shards")) json["shards"] = {"data"};
    return read_config<SampleConfig>(json, "run.json");
}

/// The message of the refusal, "" when nothing was refused.
std::string refusal(const std::string& text) {
    try {
        read_sample(text);
    } catch (const ConfigError& error) { return error.what(); }
    return "";
}

std::string parse_refusal(const std::string& text) {
    try {
        parse_settings(text, "run.json");
    } catch (const ConfigError& error) { return error.what(); }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what a file sets is read, what it leaves out keeps its default") {
    const SampleConfig config = read_sample(R"({
        // for the paper
        "about": "phase 1", "seed": 18446744073709551615, "init_from": "model.pt", "shards": ["a", "b"],
        "batch": {"micro_batch_size": 9223372036854775807}, /* the rest as it is */
        "optimizer": {"name": "lans", "learning_rate": 1, "betas": [0.9, 1], "fused": true}})");
    CHECK(config.about == "phase 1");
    CHECK(config.seed == 18446744073709551615U);
    CHECK(config.init_from == "model.pt");
    CHECK(config.shards == std::vector<std::string>{"a", "b"});
    CHECK(config.batch.micro_batch_size == INT64_MAX);
    CHECK(config.batch.temperature == 1);
    CHECK(config.optimizer.name == "lans");
    CHECK(config.optimizer.learning_rate == 1);
    CHECK(config.optimizer.betas == std::vector<double>{0.9, 1});
    CHECK(config.optimizer.fused);
    CHECK(read_sample("{}").optimizer.betas == std::vector<double>{0.9, 0.999});
    CHECK_FALSE(read_sample(R"({"init_from": null})").init_from.has_value());
}

TEST_CASE("an unknown key is refused with the nearest known one, or else with all") {
    CHECK(refusal(R"({"optimizer": {"learning_rat": 1}})") ==
          R"(config error: run.json: optimizer.learning_rat: no such setting; did you mean optimizer.learning_rate?)");
    CHECK(refusal(R"({"batch": {"workers": 1}})") ==
          "config error: run.json: batch.workers: no such setting; there are: micro_batch_size, temperature, threads, rows");
    CHECK(contains(refusal(R"({"optimiser": {}})"), "run.json: optimiser: no such setting; did you mean optimizer?"));
}

TEST_CASE("a setting and a choice that were renamed are still read under their old names") {
    const SampleConfig config = read_sample(R"({"optimizer": {"one_kernel": true, "name": "adam"}})");
    CHECK(config.optimizer.fused);
    CHECK(config.optimizer.name == "adamw");
    CHECK(write_config(config).dump().find("one_kernel") == std::string::npos);
    CHECK(refusal(R"({"optimizer": {"one_kernel": true, "fused": false}})") ==
          "config error: run.json: optimizer.fused is set twice, also under its old name \"one_kernel\"; remove the old one");
    CHECK(contains(refusal(R"({"optimizer": {"one_kernel": 5}})"), "optimizer.fused = 5: must be true or false"));
    CHECK(contains(refusal(R"({"optimizer": 5})"), "optimizer = 5: must be a section"));
}

TEST_CASE("a value of another type is refused, never converted") {
    const std::string size = "config error: run.json: batch.micro_batch_size = ";
    const std::string integer = ": must be an integer below 2^63";
    for (const std::string value : {"4.7", "\"4\"", "true", "[4]", "9223372036854775808"})
        CHECK(refusal(R"({"batch": {"micro_batch_size": )" + value + "}}") == size + value + integer);
    for (const std::string value : {"1e-3", "1e19", "1e300", "9007199254740994.0"})
        CHECK(contains(refusal(R"({"batch": {"micro_batch_size": )" + value + "}}"), integer));
    CHECK(contains(refusal(R"({"batch": {"micro_batch_size": 12345678901234567890123}})"), integer));
    CHECK(refusal(R"({"batch": {"micro_batch_size": null}})") ==
          size + "null" + integer + "; leave the key out to use its default");
    CHECK(contains(refusal(R"({"seed": -1})"), "seed = -1: must be an integer of at least 0"));
    CHECK(contains(refusal(R"({"seed": 18446744073709551616})"), "below 2^64"));
    CHECK(contains(refusal(R"({"optimizer": {"fused": 1}})"), "optimizer.fused = 1: must be true or false"));
    CHECK(contains(refusal(R"({"optimizer": {"learning_rate": "1e-3"}})"), R"(learning_rate = "1e-3": must be a number)"));
    CHECK(contains(refusal(R"({"about": 5})"), "about = 5: must be a text in double quotes"));
    CHECK(contains(refusal(R"({"init_from": 5})"), "init_from = 5: must be a text"));
    CHECK(contains(refusal(R"({"shards": "data"})"), R"(shards = "data": must be a list in [ ])"));
    CHECK(contains(refusal(R"({"shards": ["data", 5]})"), "shards[1] = 5: must be a text"));
    CHECK(contains(refusal(R"({"optimizer": {"betas": [0.9, "0.999"]}})"), "betas[1] = \"0.999\": must be a number"));
    CHECK(contains(refusal(R"({"batch": 16})"), "run.json: batch = 16: must be a section in { }"));
    CHECK(contains(refusal("[1, 2]"), "run.json = [1,2]: must be a section in { }"));
}

TEST_CASE("an integer may be written with a point or an exponent where a double holds it exactly") {
    CHECK(read_sample(R"({"batch": {"micro_batch_size": 1e3}})").batch.micro_batch_size == 1000);
    CHECK(read_sample(R"({"batch": {"micro_batch_size": 4.0}})").batch.micro_batch_size == 4);
    CHECK(read_sample(R"({"batch": {"micro_batch_size": 9007199254740992.0}})").batch.micro_batch_size == 9007199254740992);
    CHECK(read_sample(R"({"seed": 1E2, "batch": {"threads": 2.0}})").seed == 100);
    CHECK(contains(refusal(R"({"seed": -1e0})"), "an integer of at least 0"));
    CHECK(contains(refusal(R"({"batch": {"micro_batch_size": -1e0}})"), "must be >= 1"));
}

TEST_CASE("a value outside its rule is refused with what the rule allows") {
    CHECK(refusal(R"({"batch": {"micro_batch_size": 0}})") == "config error: run.json: batch.micro_batch_size = 0: must be >= 1");
    CHECK(refusal(R"({"batch": {"temperature": 0}})") == "config error: run.json: batch.temperature = 0: must be > 0");
    CHECK(contains(refusal(R"({"optimizer": {"learning_rate": 1.5}})"), "= 1.5: must be between 0 and 1"));
    CHECK(contains(refusal(R"({"optimizer": {"betas": [0.9, 2]}})"), "optimizer.betas[1] = 2: must be between 0 and 1"));
    CHECK(contains(refusal(R"({"optimizer": {"name": "lambs"}})"),
                   R"(name = "lambs": must be one of "adamw", "lamb", "lans"; did you mean "lamb"?)"));
    CHECK(contains(refusal(R"({"optimizer": {"name": ""}})"), R"(must be one of "adamw", "lamb", "lans")"));
}

TEST_CASE("a required setting must be there and not be empty") {
    const auto read = [](const std::string& text) {
        return read_config<SampleConfig>(parse_settings(text, "run.json"), "run.json");
    };
    CHECK_THROWS_WITH(read("{}"), Equals("config error: run.json: shards: is not set and has no default; set it"));
    CHECK_THROWS_WITH(read(R"({"shards": []})"), Equals("config error: run.json: shards = []: must be a list of at least one"));
    CHECK_THROWS_WITH(read(R"({"shards": [""]})"),
                      Equals("config error: run.json: shards[0] = \"\": must be a text that is not empty"));
}

TEST_CASE("a key set twice in one section is refused, the same key in two sections is not") {
    CHECK(parse_refusal(R"({"a": {"x": 1, "x": 2}})") ==
          R"(config error: run.json: "x" is set twice in the same section; remove one)");
    CHECK(parse_refusal(R"({"a": {"x": 1}, "b": {"x": 2}, "c": [{"x": 1}, {"x": 2}]})").empty());
}

TEST_CASE("bad syntax is refused with file, line and column") {
    CHECK(contains(parse_refusal("{\n  \"a\": 1,\n}"), "config error: run.json: line 3, column 1"));
    CHECK(contains(parse_refusal("{\"a\": 1"), "run.json: line 1, column 8"));
    CHECK(contains(parse_refusal("{\"a\": 1} {}"), "run.json: line 1, column 10"));
    for (const char* text : {"", "// only a remark", "{\"a\": NaN}", "{\"a\": 01}", "{\"a\": \"\xff\"}", "{\"a\": 1e400}",
                             "{'a': 1}", "{\"a\": /* 1}"})
        CHECK(contains(parse_refusal(text), "config error: run.json: "));
}

TEST_CASE("nesting is refused beyond 32 levels, however deep the file goes") {
    const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
    CHECK(parse_refusal(nested(32)).empty());
    CHECK(contains(parse_refusal(nested(33)), "nested deeper than 32 levels"));
    CHECK(contains(parse_refusal(std::string(1'000'000, '[')), "nested deeper than 32 levels"));
    std::string objects;
    for (int i = 0; i < 40; ++i) objects += "{\"a\":";
    CHECK(contains(parse_refusal(objects), "nested deeper than 32 levels"));
}

TEST_CASE("a settings file that is missing or a folder is a config error that names it") {
    const testing::TemporaryFolder folder;
    CHECK_THROWS_AS(load_settings(folder / "none.json"), ConfigError);
    CHECK_THROWS_AS(load_settings(folder.path()), ConfigError);
    testing::write_text(folder / "run.json", "{\"seed\": 7}");
    CHECK(load_settings(folder / "run.json").at("seed") == 7);
}

TEST_CASE("a settings file in UTF-16, YAML or TOML is named as that, with what to do") {
    const bertpretrain::testing::TemporaryFolder folder;
    const auto told = [&](const char* name, const std::string& text) -> std::string {
        bertpretrain::testing::write_text(folder / name, text);
        try {
            load_settings(folder / name);
        } catch (const ConfigError& error) { return error.what(); }
        return "";
    };
    CHECK(contains(told("run.json", std::string("\xff\xfe{\0}\0", 6)), "run.json: is UTF-16 text, expected JSON in UTF-8"));
    CHECK(contains(told("run.yaml", "optimizer:\n  name: lamb\n"), "run.yaml: is yaml by its name, expected JSON"));
    CHECK(told("bom.json", "\xef\xbb\xbf{}").empty());
    CHECK(told("comment.json", "// about\n{}").empty());
    for (const std::string text : {"The cat sat.\nIt slept.\n", "[PAD]\n[UNK]\n", "\x89HDF\r\n"})
        CHECK(
            contains(told("text.txt", text), "expected settings in JSON, which begin with {\n  do: give the settings file here"));
    CHECK(contains(told("text.txt", "\n The cat sat.\n"), "text.txt: begins with \"The cat sat.\""));
}

TEST_CASE("Python's word for no value is not taken for a file or a command of that name") {
    CHECK(contains(refusal(R"({"about": "None"})"), "leave the key out; None is Python's word"));
    CHECK(refusal(R"({"about": "none of these"})").empty());
}

TEST_CASE("a long value is shortened in a message") {
    CHECK(refusal(R"({"about": [")" + std::string(1000, 'a') + "\"]}").size() < 200);
    CHECK(refusal(R"({"about": [)" + std::string(1000, '1') + "]}").size() < 300);
}

TEST_CASE("a number may be left to the program where its setting says so") {
    const auto threads = [](const std::string& value) {
        return read_config<SampleConfig>(parse_settings(R"({"shards": ["a"], "batch": {"threads": )" + value + "}}", "run.json"),
                                         "run.json")
            .batch.threads;
    };
    CHECK_FALSE(threads("\"auto\""));
    CHECK(threads("3") == 3);
    CHECK_THROWS_AS(threads("0"), ConfigError);
    CHECK_THROWS_AS(threads("2.5"), ConfigError);
    CHECK_THROWS_AS(threads("\"many\""), ConfigError);
    CHECK_THROWS_AS(threads("null"), ConfigError);
}

TEST_CASE("an integer that the program may choose is 0 until it is chosen, and auto or null in a file") {
    const auto rows = [](const std::string& value) { return read_sample(R"({"batch": {"rows": )" + value + "}}").batch.rows; };
    CHECK(rows("\"auto\"") == 0);
    CHECK(rows("null") == 0);
    CHECK(rows("7") == 7);
    CHECK(read_sample("{}").batch.rows == 0);
    CHECK(contains(refusal(R"({"batch": {"rows": 0}})"), "batch.rows = 0: must be >= 2"));
    CHECK(contains(refusal(R"({"batch": {"rows": "many"}})"), R"(batch.rows = "many": must be an integer or "auto")"));
}

TEST_CASE("a required setting that says how to set it is missed with that advice") {
    CHECK_THROWS_WITH(read_config<NeedsAdvice>(parse_settings("{}", "run.json"), "run.json"),
                      Equals("config error: run.json: shards: is not set and has no default; make some"));
}

TEST_CASE("everything that is wrong with a file is told at once") {
    const std::string all =
        refusal(R"({"seed": -1, "wrong": 2, "wronger": 3, "batch": {"micro_batch_size": 0, "other": 1}, "optimizer": 5})");
    CHECK(contains(all, "6 settings are refused:\n"));
    for (const char* part : {"run.json: seed = -1: ", "run.json: wrong: ", "run.json: wronger: ",
                             "run.json: batch.micro_batch_size = 0: ", "run.json: batch.other: ", "run.json: optimizer = 5: "})
        CHECK(contains(all, part));
    std::string many = "{";
    for (int i = 0; i < 1000; ++i) many += concat("\"key", i, "\": 1, ");
    const std::string shortened = refusal(many + "\"last\": 1}");
    CHECK(contains(shortened, "1001 settings are refused"));
    CHECK(contains(shortened, "and 971 more"));
}
