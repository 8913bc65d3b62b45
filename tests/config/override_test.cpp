#include "config/override.h"

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "config/sample_config.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json overridden(json settings, const std::vector<std::string>& overrides) {
    apply_overrides(settings, overrides);
    return settings;
}

}  // namespace

TEST_CASE("an override replaces a setting, or adds it with its section; the last one counts") {
    const json file = {{"batch", {{"micro_batch_size", 16}, {"temperature", 2}}}};
    CHECK(overridden(file, {"batch.micro_batch_size=8", "batch.micro_batch_size=4", "optimizer.name=lamb", "seed=7"}) ==
          json({{"batch", {{"micro_batch_size", 4}, {"temperature", 2}}}, {"optimizer", {{"name", "lamb"}}}, {"seed", 7}}));
    CHECK(overridden(json(), {"seed=7"}) == json({{"seed", 7}}));
}

TEST_CASE("an override's value is JSON where it is JSON, else the text itself") {
    const auto value = [](const std::string& text) { return overridden(json::object(), {"key=" + text}).at("key"); };
    CHECK(value("5") == 5);
    CHECK(value("-1e-3") == -1e-3);
    CHECK(value("true") == true);
    CHECK(value("null").is_null());
    CHECK(value("[0.9, 0.98]") == json({0.9, 0.98}));
    CHECK(value("\"5\"") == "5");
    CHECK(value("data/a=b.json") == "data/a=b.json");
    CHECK(value("").get<std::string>().empty());
    CHECK(value("1e400") == "1e400");
}

TEST_CASE("an override of a setting's old name replaces what the file says under the current name") {
    json file = {{"optimizer", {{"fused", true}}}, {"shards", {"data"}}};
    apply_overrides(file, {"optimizer.one_kernel=false"}, renamed_settings<SampleConfig>());
    CHECK_FALSE(read_config<SampleConfig>(file, "run.json").optimizer.fused);
}

TEST_CASE("an override that is not of its form is refused with the form") {
    for (const char* given : {"batch.micro_batch_size", "=5", ".seed=5", "batch.=5", "batch..x=5", ""})
        CHECK_THROWS_WITH(overridden(json::object(), {given}), Contains("expected --set section.key=value"));
    CHECK_THROWS_WITH(overridden({{"seed", 5}}, {"seed.x=5"}), Contains("\"x\" would lie inside a value that is not a section"));
    CHECK_THROWS_AS(overridden(json::object(), {"about=\xff"}), ConfigError);
    CHECK_THROWS_AS(overridden(json::object(), {"\xff=1"}), ConfigError);
    CHECK_THROWS_AS(overridden(json::object(), {"betas=[0.9,"}), ConfigError);
    CHECK_THROWS_WITH(overridden(json::object(), {R"(batch={"x":1,"x":2})"}), Contains("set twice"));
}

TEST_CASE("an override of an unknown setting or of another type is refused when the settings are read") {
    const auto read = [](const std::string& given) {
        return read_config<SampleConfig>(overridden({{"shards", {"data"}}}, {given}), "run.json");
    };
    CHECK(read("optimizer.learning_rate=1e-3").optimizer.learning_rate == 1e-3);
    CHECK_THROWS_WITH(read("optimizer.learning_rat=1e-3"), Contains("did you mean optimizer.learning_rate?"));
    CHECK_THROWS_WITH(read("batch.micro_batch_size=many"), Contains("batch.micro_batch_size = \"many\": must be an integer"));
}
