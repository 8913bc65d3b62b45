// scripts/benchmark/first_light.sh with replacements of our programs: stages that pass, fail and hang.
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* two_tests = R"(<Group><TestCase name="one, &lt;right&gt;" filename="a.cpp">
  <OverallResult success="true" durationInSeconds="0.5"/></TestCase>)";
constexpr const char* wrong_test = R"(<TestCase name="two"><Expression success="false"><Original>a == b</Original>
  <Expanded>1 == 2</Expanded></Expression><OverallResult success="false" durationInSeconds="0.1"/></TestCase>)";
constexpr const char* skipped_test = R"(<TestCase name="three"><Warning>skipped: there is no GPU here</Warning>
  <OverallResult success="true" durationInSeconds="0"/></TestCase><TestCase name="four"><Expr)";

/// Runs first_light.sh with a folder of replaced programs and a folder of results.
class FirstLight {
public:
    FirstLight() {
        fs::create_directory(folder_ / "programs");
        install("bertpretrain", "echo bertpretrain 1.2.3");
        install("bertpretrain_data", "echo the disk is full >&2; exit 4");
    }
    void install(const std::string& name, const std::string& lines) {
        const fs::path file = folder_ / "programs" / name;
        write_text(file, "#!/bin/sh\n" + lines + "\n");
        fs::permissions(file, fs::perms::owner_all);
    }
    /// Makes test_gpu print this XML.
    void install_tests(const std::string& xml) { install("test_gpu", "cat <<'END'\n" + xml + "\nEND"); }
    void write_results(const json& results) {
        fs::create_directory(folder_ / "out");
        write_text(folder_ / "out/first_light.json", results.dump());
    }
    CommandResult run(const std::string& options) const {
        return run_command(concat("scripts/benchmark/first_light.sh --device cpu --programs '", (folder_ / "programs").string(),
                                  "' --output '", (folder_ / "out").string(), "' ", options));
    }
    json stages() const { return json::parse(read_text(folder_ / "out/first_light.json")).at("stages"); }
    std::string page() const { return read_text(folder_ / "out/first_light.md"); }

private:
    TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("first light continues after a stage that hangs and one that fails, and keeps both results") {
    FirstLight light;
    light.install("test_gpu", "exec sleep 60");
    const CommandResult result = light.run("--minutes 0.05 --stages tests proof");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 1);
    CHECK(light.stages().at("tests").at("status") == "timed out");
    CHECK(light.stages().at("proof").at("status") == "failed");
    CHECK(has(light.stages().at("proof").at("summary").get<std::string>(), "the disk is full"));
    CHECK(has(light.page(), "| tests: GPU tests, with synchronous launches | timed out |"));
    CHECK(has(light.page(), "bertpretrain 1.2.3"));
}

TEST_CASE("a second call of first light runs the stages that have not passed with this build, and keeps the other results") {
    FirstLight light;
    json stages;
    for (const char* name :
         {"device", "step", "roofline", "modern_parts", "learning", "modern_learning", "proof", "memory", "sanitizer", "sweep",
          "step512", "nccl", "ranks", "modern_1024", "modern_8192", "modern_large", "gemms", "attention"})
        stages[name] = {{"status", "passed"},     {"version", "bertpretrain 1.2.3"}, {"seconds", 1},
                        {"summary", "as before"}, {"data", json::object()},          {"text", ""}};
    stages["tests"] = stages["device"];
    stages["tests"]["version"] = "bertpretrain 1.2.2";
    light.write_results({{"device", "cpu"}, {"stages", stages}});
    light.install_tests(two_tests);
    const CommandResult result = light.run("--minutes 1");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(light.stages().at("tests").at("status") == "passed");
    CHECK(light.stages().at("nccl").at("summary") == "as before");
    CHECK_FALSE(has(result.out, "== device"));
}

TEST_CASE("first light reports each GPU test's verdict, also in truncated output, and repeats failed tests alone") {
    FirstLight light;
    light.install_tests(std::string(two_tests) + wrong_test + skipped_test);
    const CommandResult result = light.run("--minutes 1 --stages tests");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 1);
    const json tests = light.stages().at("tests").at("data").at("tests");
    REQUIRE(tests.size() == 4);
    CHECK(tests[0].at("name") == "one, <right>");
    CHECK(tests[0].at("verdict") == "passed");
    CHECK(tests[1].at("verdict") == "failed");
    CHECK(has(tests[1].at("message").get<std::string>(), "1 == 2"));
    CHECK(tests[1].contains("alone"));
    CHECK(tests[2].at("verdict") == "skipped");
    CHECK(tests[3].at("verdict") == "unfinished");
}

TEST_CASE("when first light is stopped, it ends the processes of its stage") {
    FirstLight light;
    light.install("test_gpu", "exec sleep 61.5");
    const CommandResult result = light.run("--minutes 1 --stages tests & sleep 2; kill $!; wait $!");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 128 + 15);
    CHECK(run_command("pgrep -fx 'sleep 61[.]5'").exit_code != 0);
}

TEST_CASE("first light refuses unknown stages and a folder without programs") {
    FirstLight light;
    const CommandResult unknown = light.run("--stages warp");
    CHECK(unknown.exit_code == 2);
    CHECK(has(unknown.err, "warp"));
    const CommandResult missing = light.run("--programs /nowhere");
    CHECK(missing.exit_code == 1);
    CHECK(has(missing.err, "/nowhere/bertpretrain cannot be run"));
}
