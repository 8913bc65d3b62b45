#include "config/weighted_paths.h"

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using nlohmann::json;

namespace {

struct SourcesConfig {
    WeightedPaths sources = "a";

    static void describe(auto& self, auto&& field) { field("sources", self.sources, any, "Where to read."); }
};

WeightedPaths read_paths(const std::string& text) {
    return read_config<SourcesConfig>(json{{"sources", json::parse(text)}}, "e.json").sources;
}

std::string refusal_of_paths(const std::string& text) {
    try {
        read_paths(text);
    } catch (const ConfigError& error) { return error.what(); }
    return "nothing";
}

}  // namespace

TEST_CASE("a text and a list of one path are the same, and a list keeps its weights") {
    CHECK(read_paths(R"("shards")") == WeightedPaths("shards"));
    CHECK(read_paths(R"([{"path": "shards", "weight": 3}])") == WeightedPaths("shards"));
    const WeightedPaths two = read_paths(R"([{"path": "a", "weight": 0.7}, {"weight": 2, "path": "b"}])");
    CHECK(two.paths == std::vector<WeightedPath>{{"a", 0.7}, {"b", 2}});
    for (const WeightedPaths& paths : {WeightedPaths("shards"), two}) {
        SourcesConfig config;
        config.sources = paths;
        CHECK(read_config<SourcesConfig>(write_config(config), "").sources == paths);
    }
    CHECK(to_json(WeightedPaths("shards")) == "shards");
}

TEST_CASE("a list of paths that makes no sense is refused with its place in the file") {
    const std::vector<std::pair<std::string, std::string>> refused{
        {"7", "e.json: sources = 7: must be a text in double quotes, or a list of {\"path\": FOLDER, \"weight\": NUMBER}"},
        {"\"\"", "e.json: sources = \"\": must be a text that is not empty"},
        {"[]", "e.json: sources: lists 0 paths; must be a list of 1 to 1000"},
        {"[\"a\"]", "e.json: sources[0] = \"a\": must be {\"path\": FOLDER, \"weight\": NUMBER}"},
        {R"([{"path": "a"}])", "e.json: sources[0]: has no \"weight\""},
        {R"([{"path": "a", "weight": 1}, {"weight": 1}])", "e.json: sources[1]: has no \"path\""},
        {R"([{"path": "a", "wieght": 1}])", "e.json: sources[0].wieght: no such key"},
        {R"([{"path": "", "weight": 1}])", "e.json: sources[0].path = \"\": must be a text that is not empty"},
        {R"([{"path": "a", "weight": -1}])", "e.json: sources[0].weight = -1: must be a number >= 0"},
        {R"([{"path": "a", "weight": "1"}])", "e.json: sources[0].weight = \"1\": must be a number >= 0"},
        {R"([{"path": "a", "weight": 0}, {"path": "b", "weight": 0}])", "e.json: sources: all weights are 0"},
        {R"([{"path": "a/b", "weight": 1}, {"path": "a//b/", "weight": 2}])",
         "e.json: sources[1].path = \"a//b/\": is listed twice; list it once, with the sum of both weights"},
    };
    for (const auto& [text, message] : refused) CHECK_THAT(refusal_of_paths(text), Catch::Contains(message));
}

TEST_CASE("tables list each path of several with its share") {
    SourcesConfig config;
    config.sources = read_paths(R"([{"path": "books", "weight": 3}, {"path": "news", "weight": 1}])");
    const std::string table = settings_table(config);
    for (const char* part : {"2 paths with weights", "75.000 %", "books", "25.000 %", "news"})
        CHECK_THAT(table, Catch::Contains(part));
    CHECK_THAT(explain_config<SourcesConfig>(), Catch::Contains("text, or list of {\"path\", \"weight\"}"));
}
