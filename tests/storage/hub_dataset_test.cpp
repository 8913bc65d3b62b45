// Datasets of the Hugging Face hub, with a hub on the loopback interface.

#include "storage/hub_dataset.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/file_server.h"
#include "support/object_server.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

std::string parts_of(const std::string& text) {
    const HubAddress address = parse_hub_address(text);
    return address.dataset + "|" + address.revision + "|" + address.path;
}

std::string token_header(std::map<std::string, std::string> variables) {
    const RemoteAddress file = hub_file(parse_hub_address("hf://datasets/o/n/x"), lookup(std::move(variables)));
    return file.headers.empty() ? "none" : file.headers.front();
}

}  // namespace

TEST_CASE("an hf:// address is a dataset, a revision and a path") {
    CHECK(parts_of("hf://datasets/o/n") == "o/n|main|");
    CHECK(parts_of("hf://datasets/o/n/a b/c.parquet") == "o/n|main|a b/c.parquet");
    CHECK(parts_of("hf://datasets/o/n@v1.2/data/") == "o/n|v1.2|data/");
    CHECK(parts_of("hf://datasets/o/n@refs/convert/parquet/default/train") == "o/n|refs/convert/parquet|default/train");
    CHECK(parse_hub_address("hf://datasets/o/n@v1/a").text() == "hf://datasets/o/n@v1/a");
    for (const char* bad : {"hf://o/n", "hf://datasets/o", "hf://datasets//n", "hf://datasets/o/", "hf://datasets/o/n@/x"})
        CHECK_THROWS_WITH(parse_hub_address(bad), Contains(bad) && Contains("hf://datasets/OWNER/NAME"));
}

TEST_CASE("a file of a dataset has the hub's https address, or one at HF_ENDPOINT") {
    const auto address = [](const std::string& text, std::map<std::string, std::string> variables) {
        const RemoteAddress file = hub_file(parse_hub_address(text), lookup(std::move(variables)));
        return file.store.text() + "/" + file.key;
    };
    CHECK(address("hf://datasets/o/n/a b#c.jsonl", {}) == "https://huggingface.co/datasets/o/n/resolve/main/a%20b%23c.jsonl");
    CHECK(address("hf://datasets/o/n@refs/pr/1/x", {{"HF_ENDPOINT", "https://mirror:8443/hub/"}}) ==
          "https://mirror:8443/hub/datasets/o/n/resolve/refs%2Fpr%2F1/x");
}

TEST_CASE("the hub's token is HF_TOKEN, else what its file holds, and an unusable one is refused unprinted") {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder / ".cache/huggingface");
    write_text(folder / ".cache/huggingface/token", "of_home\n");
    write_text(folder / "token", "of_hf_home");
    write_text(folder / "named", "named ");
    const std::string path = folder.path().string();
    CHECK(token_header({}) == "none");
    CHECK(token_header({{"HOME", path}}) == "Authorization: Bearer of_home");
    CHECK(token_header({{"HOME", path}, {"HF_HOME", path}}) == "Authorization: Bearer of_hf_home");
    CHECK(token_header({{"HF_HOME", path}, {"HF_TOKEN_PATH", path + "/named"}}) == "Authorization: Bearer named");
    CHECK(token_header({{"HF_TOKEN_PATH", path + "/named"}, {"HF_TOKEN", "given"}}) == "Authorization: Bearer given");
    try {
        token_header({{"HF_TOKEN", "hunter2\r\nX: y"}});
        FAIL("no error");
    } catch (const ConfigError& error) { CHECK_THAT(error.what(), Contains("HF_TOKEN") && !Contains("hunter2")); }
}

TEST_CASE("a dataset's list has the files of all pages, and a missing dataset or token is refused by name") {
    const FileServer server;
    for (const char* name : {"a.jsonl", "b/c.parquet", "b/d/e.txt", "f.csv", "g.txt"})
        server.put("o/n/" + std::string(name), "12345");
    const auto list = [&](const std::string& address, std::map<std::string, std::string> variables) {
        std::map<std::string, std::uint64_t> names;
        for (const auto& [name, bytes] : list_hub_files(parse_hub_address(address), {}, lookup(std::move(variables))))
            names[name] = bytes;
        return names;
    };
    CHECK(list("hf://datasets/o/n", server.variables()) ==
          std::map<std::string, std::uint64_t>{{"a.jsonl", 5}, {"b/c.parquet", 5}, {"b/d/e.txt", 5}, {"f.csv", 5}, {"g.txt", 5}});
    CHECK(server.count("/tree/main?") == 4);  // with the folders b and b/d
    CHECK(list("hf://datasets/o/n/b/", server.variables()).size() == 2);
    CHECK_THROWS_WITH(list("hf://datasets/o/missing", server.variables()), Contains("/o/missing/") && Contains("404"));
    CHECK_THROWS_WITH(list("hf://datasets/o/n", {{"HF_ENDPOINT", server.endpoint()}}),
                      Contains("401") && Contains("give a token in HF_TOKEN"));
    CHECK_THROWS_WITH(list("hf://datasets/o/n", {{"HF_ENDPOINT", server.endpoint()}, {"HF_TOKEN", "wrongone"}}),
                      Contains("conditions on the dataset's page") && !Contains("wrongone"));
}
