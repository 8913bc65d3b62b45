#include "operations/fabric.h"

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "operations/forecast_grid.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("the program holds the accelerators of accelerators.json, with the date and source of each price") {
    std::ifstream stream(std::filesystem::path(PROJECT_FOLDER) / "lib/operations/accelerators.json");
    const nlohmann::json file = nlohmann::json::parse(stream);
    CHECK(file.at("accelerators").size() == known_accelerators().size());
    for (const auto& [name, entry] : file.at("accelerators").items()) {
        CAPTURE(name);
        const Accelerator one = find_accelerator(name);
        CHECK(one.sustained_tflops == entry.at("sustained_tflops").get<double>());
        CHECK((one.peak_tflops == 0 || one.sustained_tflops < one.peak_tflops));
        CHECK(one.runs_here == entry.at("runs_here").get<bool>());
        CHECK(one.price_per_hour == entry.value("price", 0.0));
        CHECK(one.price_source.empty() == !entry.contains("price"));
        if (!entry.contains("price")) continue;
        for (const std::string part : {file.at("date"), entry.at("offer"), file.at("price_source")})
            CHECK(one.price_source.find(part) != std::string::npos);
    }
    CHECK_THROWS_AS(find_accelerator("abacus"), ConfigError);
}

TEST_CASE("a plan states the currency, date and source of each price that it assumes, and what is for comparison only") {
    ForecastRow row;
    row.accelerator = find_accelerator("a100");
    row.network = find_network("efa4");
    CHECK(plan_assumptions({row}).find(
              concat(row.accelerator.price_per_hour, " USD an hour each (", row.accelerator.price_source)) != std::string::npos);
    CHECK(plan_assumptions({row}).find("for comparison") == std::string::npos);
    row.accelerator.price_per_hour = 0;
    CHECK(plan_assumptions({row}).find("an hour") == std::string::npos);
    row.accelerator = find_accelerator("trainium1");
    CHECK(plan_assumptions({row}).find("trainium1 (for comparison: this program does not run on it)") != std::string::npos);
}

TEST_CASE("no network carries more than its line rate") {
    for (const Network& network : known_networks()) {
        CAPTURE(network.name);
        CHECK(network.line_gbps > 0);
        CHECK(network.node_gbps <= network.line_gbps);
    }
    CHECK(find_network("efa32").node_gbps == 400);  // 3,200 Gbit/s
    CHECK_THROWS_WITH(find_network("efa32:437"), Catch::Matchers::Contains("line rate"));
    CHECK(find_network("efa32:350:30").node_gbps == 350);
}

TEST_CASE("tensors may take a GPU's memory less what the driver, NCCL and fragments take") {
    Accelerator accelerator = find_accelerator("v100");
    CHECK(memory_for_tensors(accelerator) < 30 * 0x1p30);  // nvidia-smi shows 31.75 GiB
    CHECK(memory_for_tensors(accelerator) > 28 * 0x1p30);
    accelerator.memory_gib = 1;
    CHECK(memory_for_tensors(accelerator) == 0);
    accelerator.is_cpu = true;
    CHECK(memory_for_tensors(accelerator) == 0x1p30);
}

TEST_CASE("a machine's hours and price give the cost that the reference asks about: 64 and 128 Gaudi1 for 1.5B") {
    // 1,883.63 and 3,659.15 sequences/s, about 25 h and 15 to 16 h until the model had converged (configs/README.md).
    const double price = find_accelerator("gaudi1").price_per_hour;
    ForecastInputs run;
    run.hours_between_failures = 1e12;
    run.save_seconds = 1e-9;
    run.price_per_hour = price;
    run.accelerators = 64;
    run.step_seconds = 24'576 / 1'883.63;
    run.steps = 6'898;
    CHECK(forecast(run).hours == Approx(25).epsilon(0.001));
    CHECK(*forecast(run).cost == Approx(25 * 64 * price).epsilon(0.001));
    run.accelerators = 128;
    run.step_seconds = 49'152 / 3'659.15;
    run.steps = 4'155;
    CHECK(forecast(run).hours == Approx(15.5).epsilon(0.001));
    CHECK(*forecast(run).cost == Approx(15.5 * 128 * price).epsilon(0.001));
}
