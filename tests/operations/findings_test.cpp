// A failure on one rank is reported with its rank and host, next to the other ranks' findings.
#include "operations/findings.h"

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("every rank knows what every rank has found, and the first failure is the exit code") {
    run_ranks(3, [](World& world) {
        Findings findings(world);
        CHECK(findings.examine("easy", [] { return std::string("fine"); }));
        CHECK_FALSE(findings.examine("hard", [&]() -> std::string {
            if (world.rank() == 1) throw DataError("torn\n  do: fix it");
            return "fine";
        }));
        CHECK_FALSE(findings.examine_on_first("shared", []() -> std::string { throw CheckpointError("full"); }));
        CHECK(exit_code_of(findings.all()) == ExitCode::data);
        CHECK(findings.all().size() == 7);
        CHECK_THAT(findings_text(findings.all()), Catch::Contains("ok      easy, ranks 0-2: fine\nok      hard, rank 0 on "));
        CHECK_THAT(findings_text(findings.all()),
                   Catch::Contains("FAILED  hard, rank 1 on " + findings.host(1) + ": data error: torn\n"));
        CHECK_THAT(findings_text(findings.all()), Catch::Contains("\n            do: fix it\n"));
        CHECK(json_of(findings.all()[4]).at("exit_code") == 3);
    });
}

TEST_CASE("a check that throws an exception other than Error has failed with exit code 70") {
    SingleProcess alone;
    Findings findings(alone);
    CHECK_FALSE(findings.examine("broken", []() -> std::string { throw std::logic_error("broken rule"); }));
    CHECK(exit_code_of(findings.all()) == ExitCode::bug);
}

TEST_CASE("a rank is slow below a share of the ranks' median") {
    CHECK(slow_ranks({10, 9, 6.4, 11}, 0.7) == std::vector<std::size_t>{2});
    CHECK(slow_ranks({10, 9, 6.8, 11}, 0.7).empty());
    CHECK(slow_ranks({10, 5}, 0.7) == std::vector<std::size_t>{1});
    CHECK(slow_ranks({3}, 0.7).empty());
    CHECK(name_of_middle(2) == "mean");  // median() is the mean of the two middle values
    CHECK((name_of_middle(1) == "median" && name_of_middle(3) == "median" && name_of_middle(4) == "median"));
}
