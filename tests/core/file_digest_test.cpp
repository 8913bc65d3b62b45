// Digests of files, against the system's sha256sum.
#include "core/files/file_digest.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using testing::TemporaryFolder;

TEST_CASE("a file's digest has sha256sum's hash and the file's size") {
    const TemporaryFolder folder;
    const std::string content(3'000'001, 'x');
    testing::write_text(folder / "text", content);
    const FileDigest digest = digest_of_file(folder / "text", "name");
    CHECK(digest.file == "name");
    CHECK(digest.bytes == content.size());
    CHECK(digest.sha256 == testing::run_command("sha256sum < " + (folder / "text").string()).out.substr(0, 64));
    CHECK(digest_of_file(folder / "text").file == (folder / "text").string());
    CHECK_THROWS_AS(digest_of_file(folder / "absent"), DataError);
}

TEST_CASE("a digest that is written as JSON is read with its origins") {
    const FileDigest dump{"dump.xml", 7, std::string(64, 'a'), {}}, unknown{"old.txt", 3, "", {}};
    const FileDigest text{"text.txt", 5, std::string(64, '0'), {dump, unknown}};
    const nlohmann::json json = to_json(text);
    CHECK_FALSE(nlohmann::json(to_json(dump)).contains("made_from"));
    const FileDigest read = read_digest(json, "record.json");
    CHECK(read.bytes == 5);
    REQUIRE(read.made_from.size() == 2);
    CHECK(read.made_from[0].sha256 == dump.sha256);
    CHECK(read.made_from[1].sha256.empty());
}

TEST_CASE("JSON that is no digest is a DataError that names the file") {
    nlohmann::json endless = {{"file", "a"}, {"bytes", 1}, {"sha256", ""}};
    for (int i = 0; i < 100; ++i) endless = {{"file", "a"}, {"bytes", 1}, {"sha256", ""}, {"made_from", {endless}}};
    for (const nlohmann::json& wrong : {nlohmann::json("text"), nlohmann::json{{"file", "a"}, {"bytes", 1}},
                                        nlohmann::json{{"file", "a"}, {"bytes", 1}, {"sha256", "XYZ"}}, endless}) {
        CHECK_THROWS_AS(read_digest(wrong, "record.json"), DataError);
        CHECK_THROWS_AS(read_digests(wrong, "record.json"), DataError);
    }
}
