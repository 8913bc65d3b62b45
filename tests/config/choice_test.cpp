#include "config/choice.h"

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "support/catch.h"

namespace bertpretrain {
namespace {

enum class Fruit { apple, dragon_fruit };

}  // namespace

template <>
inline constexpr auto choice_names<Fruit> = choices("apple", "dragon fruit");

namespace {

struct Basket {
    Fruit fruit = Fruit::apple;
    static void describe(auto& self, auto&& field) {
        field("fruit", self.fruit, renamed_choice("pitaya", "dragon fruit", any), "What is in it.");
    }
};

Basket read(const char* json) { return read_config<Basket>(nlohmann::json::parse(json), "basket.json"); }

}  // namespace

TEST_CASE("an enum is read and written by its names, and read by an older one") {
    CHECK((read("{}").fruit == Fruit::apple));
    CHECK((read(R"({"fruit": "dragon fruit"})").fruit == Fruit::dragon_fruit));
    CHECK((read(R"({"fruit": "pitaya"})").fruit == Fruit::dragon_fruit));
    CHECK(write_config(Basket{Fruit::dragon_fruit}).dump() == R"({"fruit":"dragon fruit"})");
    CHECK(fully_described<Basket>());
}

TEST_CASE("another name than those of an enum is refused with all of them") {
    CHECK_THROWS_WITH(read(R"({"fruit": "aple"})"),
                      Catch::Contains(R"(basket.json: fruit = "aple": must be one of "apple", "dragon fruit")") &&
                          Catch::Contains("did you mean \"apple\"?"));
    CHECK_THROWS_AS(read(R"({"fruit": 0})"), ConfigError);
}

}  // namespace bertpretrain
