#include "operations/prices.h"

#include <nlohmann/json.hpp>

#include "operations/prices_json.h"

namespace bertpretrain {

std::optional<Price> known_price(const std::string& accelerator) {
    static const nlohmann::json file = nlohmann::json::parse(prices_json);
    const nlohmann::json& prices = file.at("per_accelerator_hour");
    const auto found = prices.find(accelerator);
    if (found == prices.end()) return std::nullopt;
    return Price{found->at("price"), file.at("currency"), file.at("date"),
                 found->at("offer").get<std::string>() + ", " + file.at("source").get<std::string>()};
}

}  // namespace bertpretrain
