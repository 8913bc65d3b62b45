#include "config/write.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "config/sample_config.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

SampleConfig changed_sample() {
    SampleConfig config;
    config.about = "line\n\"quoted\" \xc3\xbc";
    config.seed = 18446744073709551615U;
    config.init_from = "model.pt";
    config.shards = {"a", "b"};
    config.batch.micro_batch_size = INT64_MAX;
    config.optimizer.learning_rate = 0.1 + 0.2;  // 17 digits
    config.optimizer.betas = {1.0 / 3, 0};
    config.optimizer.fused = true;
    return config;
}

/// Whether a line of `text` has exactly these words.
bool has_line(const std::string& text, const std::string& words) {
    INFO(text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream in(line);
        std::string found;
        for (std::string word; in >> word;) found += (found.empty() ? "" : " ") + word;
        if (found == words) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("written settings are complete, in their described order, defaults included") {
    SampleConfig config;
    config.shards = {"data"};
    CHECK(write_config(config).dump() ==
          R"({"about":"","seed":12345,"init_from":null,"shards":["data"],)"
          R"("batch":{"micro_batch_size":16,"temperature":1.0,"threads":"auto","rows":"auto"},)"
          R"("optimizer":{"name":"adamw","learning_rate":0.0004,"betas":[0.9,0.999],"fused":false}})");
}

TEST_CASE("settings written as text and read again are the same to the last bit") {
    const SampleConfig config = changed_sample();
    const auto again = read_config<SampleConfig>(parse_settings(write_config(config).dump(2), "settings.json"), "settings.json");
    CHECK(compare_configs(config, again).empty());
    CHECK(again.optimizer.learning_rate == 0.1 + 0.2);
    CHECK(again.seed == 18446744073709551615U);
    CHECK(again.about == config.about);
}

TEST_CASE("the table of all settings marks those that are at their default") {
    SampleConfig config;
    config.batch.micro_batch_size = 4;
    const std::string table = settings_table(config, Show::all);
    CHECK(has_line(table, "batch.micro_batch_size 4"));
    CHECK(has_line(table, "batch.rows \"auto\" default"));
    CHECK(has_line(table, "seed 12345 default"));
    CHECK(has_line(table, "optimizer.betas [0.9,0.999] default"));
}

TEST_CASE("the table of changed settings has their values and defaults, and counts the others") {
    SampleConfig config;
    config.batch.micro_batch_size = 4;
    config.shards = {"data"};
    const std::string table = settings_table(config);
    CHECK(has_line(table, "batch.micro_batch_size 4 16"));
    CHECK(has_line(table, "shards [\"data\"]"));
    CHECK(has_line(table, "10 other settings have their defaults; settings.json in the run's folder has all"));
    CHECK(std::count(table.begin(), table.end(), '\n') == 5);
}

TEST_CASE("the explanation names default, allowed values, resume and meaning of every setting") {
    const std::string text = explain_config<SampleConfig>();
    for (const std::string part :
         {"batch.micro_batch_size", "integer >= 1", "may change on resume", "Sequences in one pass.", "number > 0",
          "default 0.0004", "(required; ", R"(one of "adamw", "lamb", "lans")", "list of numbers between 0 and 1",
          "true or false", "text or null", "fixed on resume", "How many sequences make one step.", "list of texts",
          R"(default "auto"; "auto" or integer >= 2)"}) {
        INFO(part << " in " << text);
        CHECK(std::regex_replace(text, std::regex("\\s+"), " ").find(part) != std::string::npos);
    }
    CHECK(explain_config<SampleConfig>("batch.rows") == R"(  batch.rows (default "auto"; "auto" or integer >= 2; fixed on resume)
      2 rows or more; auto: as many as there are words.
)");
    CHECK_THROWS_WITH(explain_config<SampleConfig>("betas"),
                      Catch::Matchers::Contains("betas: no such setting; did you mean optimizer.betas?"));
}

TEST_CASE("the explanation's lines are no longer than the width, and begin where their setting's do") {
    for (const std::size_t width : {60U, 80U, 100U}) {
        std::istringstream lines(explain_config<SampleConfig>("", width));
        std::size_t longest = 0;
        for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
        CHECK(longest <= width);
        CHECK(longest + 20 > std::min<std::size_t>(width, 80));
    }
    CHECK(explain_config<SampleConfig>("batch.rows", 60).find("\n      2 rows or more") != std::string::npos);
}

TEST_CASE("a comparison lists exactly the settings that differ, and whether each may change on resume") {
    SampleConfig a;
    SampleConfig b;
    CHECK(compare_configs(a, b).empty());
    b.batch.micro_batch_size = 8;
    b.batch.temperature = 2;
    b.init_from = "";
    const auto differences = compare_configs(a, b);
    REQUIRE(differences.size() == 3);
    CHECK(differences[0].path == "init_from");
    CHECK(differences[0].value_a == "null");
    CHECK(differences[0].value_b == "\"\"");
    CHECK_FALSE(differences[0].may_change);
    CHECK(differences[1].path == "batch.micro_batch_size");
    CHECK(differences[1].value_a == "16");
    CHECK(differences[1].value_b == "8");
    CHECK(differences[1].may_change);
    CHECK(differences[2].path == "batch.temperature");
    CHECK_FALSE(differences[2].may_change);
}

namespace {

struct ChangeableSection {
    SampleBatchConfig devices;
    static void describe(auto& self, auto&& field) { field("devices", self.devices, any, "Where it runs.", Resume::may_change); }
};

}  // namespace

TEST_CASE("a section that may change on resume passes this on to all it holds") {
    ChangeableSection a;
    ChangeableSection b;
    b.devices.temperature = 2;
    REQUIRE(compare_configs(a, b).size() == 1);
    CHECK(compare_configs(a, b)[0].may_change);
}
