// Addresses as inputs: which objects they name, in which order, and what is read of them.

#include "text/reader/remote_inputs.h"
#include "core/error.h"
#include "core/files/file_digest.h"
#include "documents.h"
#include "storage/object_store.h"
#include "support/catch.h"
#include "support/file_server.h"
#include "support/object_server.h"
#include "support/skip.h"
#include "text/content/byte_source.h"
#include "text/reader/input_files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

/// The bucket of a server that only these tests use.
ObjectServer& bucket() {
    static ObjectServer server;
    for (const auto& [name, value] : server.variables()) ::setenv(name.c_str(), value.c_str(), 1);
    return server;
}

void put(const std::string& key, const std::string& content) {
    ObjectStore(parse_object_url("s3://bucket", "a test"), credentials_by(bucket().variables())).write(key, content);
}

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& files) {
    std::vector<std::string> names;
    for (const auto& file : files) names.push_back(file.string());
    return names;
}

/// Lets the process use a hub until the end of a test.
class HubVariables {
public:
    explicit HubVariables(const FileServer& server) {
        for (const auto& [name, value] : server.variables()) ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~HubVariables() {
        ::unsetenv("HF_ENDPOINT");
        ::unsetenv("HF_TOKEN");
    }
    HubVariables(const HubVariables&) = delete;
    HubVariables& operator=(const HubVariables&) = delete;
};

}  // namespace

TEST_CASE("a prefix of a bucket names the files that a local folder of the same names has, in the same order") {
    NEEDS_OBJECT_SERVER(bucket());
    const TemporaryFolder folder;
    for (const std::string name : {"b.txt", "a/2", "a/10", "a-b", ".hidden", "c/.git/x", "d.txt~", "#e#", "b.txt.lineage.json",
                                   "a/z/y", "f.partial", "g.incomplete/h"}) {
        std::filesystem::create_directories((folder / name).parent_path());
        write_text(folder / name, "x");
        put("names/" + name, "x");
    }
    put("names/empty/", "");  // what consoles make as a folder
    put("names2/other", "x");
    std::vector<std::string> local, remote;
    for (const auto& file : input_files({folder.path()})) local.push_back(file.lexically_relative(folder.path()).string());
    const std::string prefix = "s3://bucket/names/";
    for (const auto& file : input_files({prefix})) remote.push_back(file.string().substr(prefix.size()));
    CHECK(local.size() == 5);
    CHECK(remote == local);
}

TEST_CASE("an address names an object exactly, and its size is known without reading it") {
    NEEDS_OBJECT_SERVER(bucket());
    put("one", "12345");
    put("/odd//one", "123");
    const std::vector<std::filesystem::path> files = input_files({"s3://bucket/one", "s3://bucket//odd//one"});
    CHECK(names_of(files) == std::vector<std::string>{"s3://bucket/one", "s3://bucket//odd//one"});
    CHECK(bytes_of(files) == 8);
    CHECK(bucket().count("GET /bucket/one ") == 0);
    put("sizes/a", "1234");
    put("sizes/b", "56");
    CHECK(bytes_of(input_files({"s3://bucket/sizes/"})) == 6);
    CHECK(bucket().count("HEAD /bucket/sizes/") == 0);  // the list has the sizes
}

TEST_CASE("what an address does not name is refused before anything is read") {
    NEEDS_OBJECT_SERVER(bucket());
    put("twice", "x");
    const auto refuses = [](const std::vector<std::filesystem::path>& inputs, const std::string& why) {
        CHECK_THROWS_WITH(input_files(inputs), Contains(why));
    };
    refuses({"s3://bucket/missing"}, "s3://bucket/missing: does not exist (status 404)");
    refuses({"s3://bucket/missing/"}, "s3://bucket/missing/: has no objects to read");
    refuses({"s3://bucket/twice", "s3://bucket/twice"}, "s3://bucket/twice: is given twice");
    refuses({"https://host/x?signature=verysecret"}, "has a query");
    refuses({"https://me:hunter2@host/x"}, "has a user name or password");
    refuses({"http://127.0.0.1:1/folder/"}, "no lists, expected a file's address");
    refuses({"hf://models/o/n"}, "hf://datasets/OWNER/NAME");
}

TEST_CASE("a dataset's address names a file, the files below a folder, or all but its card") {
    const FileServer server;
    const HubVariables variables(server);
    for (const char* name :
         {"README.md", "data/b.txt", "data/a.txt", "data/README.md", ".gitattributes", "other/c.txt", "data2/d"})
        server.put("o/n/" + std::string(name), "x");
    const std::string dataset = "hf://datasets/o/n";
    CHECK(names_of(remote_inputs(dataset)) == std::vector<std::string>{dataset + "/data/README.md", dataset + "/data/a.txt",
                                                                       dataset + "/data/b.txt", dataset + "/data2/d",
                                                                       dataset + "/other/c.txt"});
    for (const std::string folder : {"/data", "/data/"})
        CHECK(names_of(remote_inputs(dataset + "@main" + folder)) ==
              std::vector<std::string>{dataset + "/data/README.md", dataset + "/data/a.txt", dataset + "/data/b.txt"});
    CHECK(names_of(remote_inputs(dataset + "@v1/other/c.txt")) == std::vector<std::string>{dataset + "@v1/other/c.txt"});
    CHECK_THROWS_WITH(remote_inputs(dataset + "/nothing"), Contains("404"));
}

TEST_CASE("documents and digests of objects are those of the same files") {
    const FileServer server;
    std::string text;
    for (int i = 0; i < 400'000; ++i) text += "It rained " + std::to_string(i) + " times.\nWhy?\n\n";
    server.put("a.txt", text);
    TaskPool pool(2);
    const auto read = [&](const std::filesystem::path& input) {
        DocumentReader reader({input}, {}, pool);
        reader.digest_files();
        std::string content;
        while (const auto batch = reader.next())
            for (const Document& document : batch->documents) content += document.text + "\n";
        CHECK(reader.bytes_read() == reader.total_bytes());
        CHECK(reader.digests().front().file == input.string());
        return std::pair(content, reader.digests().front().sha256);
    };
    CHECK((read(server.file("a.txt")) == read(server.at("/files/a.txt"))));
    CHECK(can_be_read_again(server.at("/files/a.txt")));
    CHECK_FALSE(can_be_read_again("-"));
}
