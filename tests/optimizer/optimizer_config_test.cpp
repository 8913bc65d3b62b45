#include "optimizer/optimizer_config.h"

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

OptimizerConfig read(const char* json) { return read_config<OptimizerConfig>(nlohmann::json::parse(json), "optimizer"); }

}  // namespace

TEST_CASE("all optimizer settings are described, and invalid values are refused") {
    CHECK(fully_described<OptimizerConfig>());
    CHECK(read(R"({"name": "lans", "betas": [0.8, 0.99]})").betas == std::vector<double>{0.8, 0.99});
    CHECK_THROWS_AS(read(R"({"name": "sgd"})"), ConfigError);
    CHECK_THROWS_AS(read(R"({"eps": 0})"), ConfigError);
    CHECK_THROWS_AS(read(R"({"max_grad_norm": -1})"), ConfigError);
}

TEST_CASE("betas are two numbers below 1") {
    CHECK_NOTHROW(check_optimizer(OptimizerConfig{}));
    CHECK_THROWS_AS(check_optimizer(read(R"({"betas": [0.9]})")), ConfigError);
    CHECK_THROWS_AS(check_optimizer(read(R"({"betas": [0.9, 0.99, 0.999]})")), ConfigError);
    CHECK_THROWS_AS(check_optimizer(read(R"({"betas": [0.9, 1]})")), ConfigError);
}

TEST_CASE("the learning rate may change on resume, the method may not") {
    for (const Setting& setting : list_settings(OptimizerConfig{}))
        CHECK((setting.resume == Resume::may_change) == (setting.path == "learning_rate"));
}
