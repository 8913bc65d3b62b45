#include "config/field.h"

#include "config/read.h"
#include "config/sample_config.h"
#include "config/write.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

struct ForgottenMember {
    bool first = false;
    std::string second;
    static void describe(auto& self, auto&& field) { field("first", self.first, any, "The only one listed."); }
};

struct ListedTwice {
    double first = 0;
    double second = 0;
    static void describe(auto& self, auto&& field) {
        field("first", self.first, any, "Listed.");
        field("second", self.first, any, "A slip: the first again.");
    }
};

struct ForgottenInside {
    ForgottenMember section;
    static void describe(auto& self, auto&& field) { field("section", self.section, any, "Holds a forgotten member."); }
};

}  // namespace

TEST_CASE("a struct is a config exactly when it describes itself") {
    STATIC_REQUIRE(Config<SampleConfig>);
    STATIC_REQUIRE_FALSE(Config<std::string>);
    STATIC_REQUIRE_FALSE(Config<std::vector<double>>);
}

TEST_CASE("a member that describe() forgets, or lists twice, is noticed, also inside a section") {
    CHECK(fully_described<SampleConfig>());
    CHECK_FALSE(fully_described<ForgottenMember>());
    CHECK_FALSE(fully_described<ListedTwice>());
    CHECK_FALSE(fully_described<ForgottenInside>());
}

TEST_CASE("a rule says what it allows") {
    CHECK(any.text().empty());
    CHECK(at_least(1'048'576).text() == ">= 1048576");
    CHECK(above(0).text() == "> 0");
    CHECK(between(0, 0.1).text() == "between 0 and 0.1");
    CHECK(one_of({"lamb", "adamw"}).text() == R"(one of "lamb", "adamw")");
    CHECK(between(0, 1).holds(0));
    CHECK(between(0, 1).holds(1));
    CHECK_FALSE(between(0, 1).holds(1.0001));
    CHECK_FALSE(above(0).holds(0));
}
