// No test is skipped unseen.
#include <regex>
#include <sstream>

#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// scripts/list_skips.sh of a checkout that has shared data beside it, or none, on this list of skips.
CommandResult list_skips(const std::string& list, bool shared_data = false) {
    const TemporaryFolder folder;
    fs::create_directories(folder / "checkout/scripts");
    if (shared_data) fs::create_directories(folder / "shared/data");
    const std::string script = (folder / "checkout/scripts/list_skips.sh").string(), file = (folder / "skips").string();
    fs::copy_file(fs::path(PROJECT_FOLDER) / "scripts/list_skips.sh", script);
    write_text(file, list);
    return run_command(script + " " + file);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a skip that is expected on the machine is listed and counted") {
    const CommandResult result = list_skips("no shared data\ttest_text\treads a dump\tno folder\n");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(has(result.out, "skipped (no shared data, expected): test_text: reads a dump: no folder\n"));
    CHECK(has(result.out, "skips: 1, 0 of them not expected on this machine\n"));
}

TEST_CASE("a skip that is not expected on the machine fails the run of the tests") {
    const CommandResult with_data = list_skips("no shared data\ttest_text\treads a dump\tno folder\n", /*shared_data=*/true);
    CHECK(with_data.exit_code == 1);
    CHECK(has(with_data.out, "NOT EXPECTED"));
    for (const std::string kind : {"no oracle", "not built", "of no known kind"}) {
        const CommandResult result = list_skips("limited instructions\ta\tb\tc\n" + kind + "\ta\tb\tc\n");
        CAPTURE(kind, result.out);
        CHECK(result.exit_code == 1);
        CHECK(has(result.out, "skips: 2, 1 of them not expected"));
    }
}

TEST_CASE("SKIP_TEST ends the test and adds its line to the file that BERTPRETRAIN_SKIPS names") {
    const TemporaryFolder folder;
    const std::string file = (folder / "skips").string();
    const CommandResult result =
        run_command("BERTPRETRAIN_SKIPS=" + file + " " PROGRAM_FOLDER "/test_structure '[skips itself]'");
    CHECK(result.exit_code == 0);
    CHECK(has(result.out, "skipped: limited instructions: to be seen"));
    CHECK(read_text(file) == "limited instructions\ttest_structure\ta test that skips itself\tto be seen\n");
    CHECK(run_command(PROJECT_FOLDER "/scripts/list_skips.sh " + file).exit_code == 0);
    CHECK(run_command("BERTPRETRAIN_SKIPS=/does/not/exist " PROGRAM_FOLDER "/test_structure '[skips itself]'").exit_code == 1);
}

TEST_CASE("a test that skips itself", "[.][skips itself]") {
    SKIP_TEST(skip::limited, "to be seen");
    FAIL("goes on");
}

TEST_CASE("a test whose oracle or program is missing fails, also when it runs alone") {
    // Without the list of the whole run, which this wanted failure would fail.
    const CommandResult result = run_command("env -u BERTPRETRAIN_SKIPS " PROGRAM_FOLDER "/test_structure '[lacks its oracle]'");
    CHECK(result.exit_code != 0);
    CHECK(has(result.out, "cannot run here: no oracle: to be seen"));
}

TEST_CASE("a test that lacks its oracle", "[.][lacks its oracle]") { SKIP_TEST(skip::no_oracle, "to be seen"); }

TEST_CASE("a test returns early only by SKIP_TEST") {
    const std::regex of_test("^    (if \\(.*\\) )?return;.*");  // statements of a test case begin in column 5
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PROJECT_FOLDER) / "tests")) {
        if (entry.path().extension() != ".cpp") continue;
        std::istringstream lines(read_text(entry.path()));
        bool in_test = false, in_if = false;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("TEST_CASE(")) in_test = true;
            if (line == "}") in_test = false;
            if (line.starts_with("    ") && line[4] != ' ') in_if = line.starts_with("    if (");
            const bool returns = std::regex_match(line, of_test) || (in_if && line.starts_with("        return;"));
            INFO(entry.path().string() << ": " << line);
            CHECK_FALSE((in_test && returns));
        }
    }
}

TEST_CASE("at most a dozen tests need the shared data") {
    std::size_t tests = 0;
    const std::string need =
        "    NEEDS_SHARED_DATA"
        "();\n";
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PROJECT_FOLDER) / "tests")) {
        if (entry.path().extension() != ".cpp") continue;
        const std::string text = read_text(entry.path());
        for (std::size_t at = text.find(need); at != text.npos; at = text.find(need, at + 1)) ++tests;
    }
    CHECK(tests <= 12);
}
