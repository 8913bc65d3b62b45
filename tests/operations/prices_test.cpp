#include "operations/prices.h"

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "operations/fabric.h"
#include "operations/forecast_grid.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("the program holds the prices of prices.json, each of an accelerator that plan knows") {
    std::ifstream stream(std::filesystem::path(PROJECT_FOLDER) / "lib/operations/prices.json");
    const nlohmann::json file = nlohmann::json::parse(stream);
    REQUIRE(file.at("per_accelerator_hour").size() > 0);
    for (const auto& [name, entry] : file.at("per_accelerator_hour").items()) {
        CAPTURE(name);
        CHECK(find_accelerator(name).price_per_hour == entry.at("price").get<double>());
        const std::string source = find_accelerator(name).price_source;
        for (const std::string part : {file.at("currency"), file.at("date"), entry.at("offer"), file.at("source")})
            CHECK(source.find(part) != std::string::npos);
    }
    CHECK_FALSE(known_price("abacus"));
}

TEST_CASE("a plan states the currency, date and source of each price that it assumes") {
    ForecastRow row{find_accelerator("a100"), find_network("efa4"), {}, {}, {}, 1};
    CHECK(plan_assumptions({row}).find(
              concat(row.accelerator.price_per_hour, " USD an hour each (", known_price("a100")->currency)) != std::string::npos);
    row.accelerator.price_per_hour = 0;
    CHECK(plan_assumptions({row}).find("an hour") == std::string::npos);
}
