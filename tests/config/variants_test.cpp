// A section whose first setting chooses which others it has.
#include <nlohmann/json.hpp>

#include "config/field.h"
#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using nlohmann::json;

namespace {

enum class Shape { circle, box };

}  // namespace

template <>
inline constexpr auto bertpretrain::choice_names<Shape> = bertpretrain::choices("circle", "box");

namespace {

struct ShapeConfig {
    Shape shape = Shape::circle;
    double radius = 1, circle_size = 5, box_size = 7;
    std::int64_t corners = 4;

    static void describe(auto& self, auto&& field) {
        field("shape", self.shape, any, "Which settings follow.");
        if (self.shape == Shape::circle) {
            field("radius", self.radius, above(0), "Of the circle.");
            field("size", self.circle_size, any, "The circle's.");
        } else {
            field("corners", self.corners, at_least(1), "Of the box.");
            field("size", self.box_size, any, "The box's.");
        }
    }
    static std::vector<ShapeConfig> variants() { return {ShapeConfig{}, ShapeConfig{.shape = Shape::box}}; }
    std::string variant() const { return std::string(name_of(shape)); }
};

struct DrawingConfig {
    ShapeConfig shape;
    std::string title = "none";
    static void describe(auto& self, auto&& field) {
        field("shape", self.shape, any, "What is drawn.");
        field("title", self.title, any, "Above it.");
    }
};

DrawingConfig drawing(const char* text) { return read_config<DrawingConfig>(json::parse(text), "file"); }

}  // namespace

TEST_CASE("a section has the settings of its variant, with that variant's defaults, wherever its first setting stands") {
    CHECK(drawing("{}").shape.shape == Shape::circle);
    CHECK(drawing(R"({"shape": {"size": 2}})").shape.circle_size == 2);
    const DrawingConfig box = drawing(R"({"shape": {"corners": 3, "shape": "box"}})");
    CHECK(box.shape.corners == 3);
    CHECK(box.shape.box_size == 7);
    CHECK(write_config(box).dump() == R"({"shape":{"shape":"box","corners":3,"size":7.0},"title":"none"})");
    CHECK(write_config(read_config<DrawingConfig>(write_config(box), "file")) == write_config(box));
}

TEST_CASE("a setting of another variant is refused by name, and an unknown variant like any wrong choice") {
    using Catch::Matchers::Contains;
    CHECK_THROWS_WITH(drawing(R"({"shape": {"shape": "box", "radius": 3}})"),
                      Contains("file: shape.radius: no such setting; it is a setting of shape \"circle\", and this is \"box\""));
    CHECK_THROWS_WITH(drawing(R"({"shape": {"corners": 3}})"),
                      Contains("it is a setting of shape \"box\", and this is \"circle\""));
    CHECK_THROWS_WITH(drawing(R"({"shape": {"shape": "boxx"}})"), Contains("did you mean \"box\"?"));
    CHECK_THROWS_WITH(drawing(R"({"shape": {"shape": "box", "cornerss": 3}})"), Contains("did you mean shape.corners?"));
}

TEST_CASE("variants are explained one after the other, shown beside their own defaults, and compared by name") {
    const std::string all = explain_config<DrawingConfig>();
    CHECK(all.find("shape.radius (default 1.0") < all.find("shape (box): With shape = \"box\""));
    CHECK(all.find("shape (box): With shape = \"box\"") < all.find("shape.corners (default 4"));
    CHECK(explain_config<DrawingConfig>("shape.corners").find("Of the box.") != std::string::npos);
    DrawingConfig box = drawing(R"({"shape": {"shape": "box", "corners": 5}})");
    const std::string table = settings_table(box);
    CHECK(table.find("shape.corners") != std::string::npos);
    CHECK(table.find("shape.size") == std::string::npos);  // 7 is the box's default
    std::string differences;
    for (const Difference& one : compare_configs(DrawingConfig{}, box))
        differences += one.path + " " + one.value_a + " " + one.value_b + "\n";
    CHECK(differences == "shape.shape \"circle\" \"box\"\nshape.radius 1.0 (none)\nshape.size 5.0 7.0\nshape.corners (none) 5\n");
}
