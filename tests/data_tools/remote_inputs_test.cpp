// Commands that read objects of stores: the same output as from local files, and one message where that is not possible.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "data_tools/parquet_module.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/file_server.h"
#include "support/files.h"
#include "support/object_server.h"
#include "support/skip.h"

using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

const std::string program = PROGRAM_FOLDER "/bertpretrain_data ";

std::string words_of(int i) {
    static const char* const words[] = {"heron", "pond", "fish", "reed", "water", "morning", "stone", "bridge", "rain", "roof"};
    std::string text;
    for (int k = 0; k < 12; ++k) text += std::string(words[(i * 7 + k * k) % 10]) + " ";
    return "The " + text + std::to_string(i % 97) + ". It waits.";
}

/// Some documents as JSONL.
std::string jsonl_of(int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i)
        text += R"({"id": )" + std::to_string(i) + R"(, "text": ")" + words_of(i) + "\"}\n";
    return text;
}

/// A folder of several formats, each larger than an object's first block where it counts.
void write_corpus(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    write_text(folder / "a.jsonl", jsonl_of(0, 12'000));
    std::string csv = "id,text\n", text;
    for (int i = 12'000; i < 13'000; ++i) csv += std::to_string(i) + ",\"" + words_of(i) + "\"\n";
    for (int i = 13'000; i < 14'000; ++i) text += words_of(i) + "\n\n";
    write_text(folder / "b.csv", csv);
    write_text(folder / "c.txt", text);
    write_text(folder / "d.jsonl", jsonl_of(14'000, 500));
    for (const char* pack : {"gzip ", "bzip2 -k "})
        REQUIRE(run_command(std::string(pack) + "-f " + (folder / "d.jsonl").string()).exit_code <= 2);
}

/// The SHA-256 and the last part of the name of each file of which a record of lineage names the digest.
std::string origins_in(const std::filesystem::path& record) {
    std::string found;
    const auto json = nlohmann::json::parse(read_text(record), nullptr, false);
    if (json.is_discarded()) return "no record";
    for (const auto& file : json.at(json.contains("made_from") ? "made_from" : "corpus")) {
        const std::string name = file.at("file");
        found += name.substr(name.rfind('/') + 1) + " " + file.at("sha256").get<std::string>() + "\n";
    }
    return found;
}

void check_equal_shards(const std::filesystem::path& a, const std::filesystem::path& b) {
    std::size_t shards = 0;
    for (const auto& entry : std::filesystem::directory_iterator(a)) {
        if (entry.path().extension() != ".h5") continue;
        ++shards;
        CAPTURE(entry.path());
        CHECK((read_text(entry.path()) == read_text(b / entry.path().filename().string())));
    }
    CHECK(shards == 3);
    CHECK(origins_in(a / "manifest.json") == origins_in(b / "manifest.json"));
}

/// Runs a command that must fail, and returns its message.
std::string refusal_of(const std::string& command, int exit_code, const TemporaryFolder& folder) {
    const CommandResult result = run_command(command + " --output " + (folder / "out").string());
    CAPTURE(command, result.err);
    CHECK(result.exit_code == exit_code);
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') <= 3);  // the layout, the message and the advice
    CHECK_FALSE(std::filesystem::exists(folder / "out"));
    CHECK_THAT(result.err, !Contains("verysecret"));
    return result.err;
}

}  // namespace

TEST_CASE("commands make the same bytes of a throttled and failing bucket's objects as of local files") {
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    write_corpus(folder / "corpus");
    REQUIRE(server.put_folder(folder / "corpus", "corpus"));
    server.set_faults(R"([{"fault": "cut", "contains": "/corpus/", "method": "GET", "every": 3},
                          {"fault": "503", "every": 4}, {"fault": "reset", "contains": "/corpus/", "every": 7},
                          {"fault": "slow", "contains": "/corpus/", "every": 5, "seconds": 0.01}])");
    const auto path = [&](const std::string& name) { return (folder / name).string(); };
    const std::string inputs[] = {path("corpus"), "s3://bucket/corpus/"};
    for (const int remote : {0, 1}) {
        const std::string end = remote == 1 ? "_remote" : "_local";
        const auto run = [&](const std::string& command, const std::string& output) {
            const CommandResult result =
                run_command(server.environment() + program + command + " " + inputs[remote] + " --output " + path(output + end));
            CAPTURE(command, result.err);
            REQUIRE(result.exit_code == 0);
            CHECK_THAT(result.err, !Contains("verysecret"));
        };
        run("extract --threads " + std::to_string(2 + remote), "text");
        run("vocabulary --size 90", "vocab");
        run("deduplicate --exact-only", "clean");
        run("shard --shards 2 --held-out-shards 1 --held-out-fraction 0.1 --sequence-length 32 --vocabulary " +
                path("vocab_local"),
            "shards");
    }
    for (const char* part : {"1/2", "2/2"})
        REQUIRE(run_command(server.environment() + program + "extract s3://bucket/corpus/ --output " + path("text_joined") +
                            " --part " + part)
                    .exit_code == 0);
    REQUIRE(run_command(program + "join " + path("text_joined")).exit_code == 0);
    CHECK((read_text(path("text_joined")) == read_text(path("text_local"))));
    CHECK(origins_in(path("text_joined.lineage.json")) == origins_in(path("text_local.lineage.json")));
    CHECK((read_text(path("text_remote")) == read_text(path("text_local"))));
    CHECK((read_text(path("vocab_remote")) == read_text(path("vocab_local"))));
    CHECK((read_text(path("clean_remote/text.txt")) == read_text(path("clean_local/text.txt"))));
    for (const char* record : {"text", "clean"}) {
        const std::string name = record == std::string("text") ? "" : "/text.txt";
        CHECK(origins_in(path(std::string(record) + "_remote" + name + ".lineage.json")) ==
              origins_in(path(std::string(record) + "_local" + name + ".lineage.json")));
    }
    CHECK_THAT(read_text(path("text_remote.lineage.json")), Contains("\"file\": \"s3://bucket/corpus/a.jsonl\""));
    check_equal_shards(path("shards_local"), path("shards_remote"));
    for (const char* fault : {" cut", " 503", " reset", " slow"}) CHECK(server.count(fault) > 0);
    CHECK(server.count("PUT ") == 0);
}

TEST_CASE("sentence text of a bucket becomes the same shards as the local file, and the same token ids") {
    const ObjectServer server;
    NEEDS_OBJECT_SERVER(server);
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder / "corpus");
    std::string text;
    for (int i = 0; i < 9000; ++i) text += words_of(i).substr(0, words_of(i).size() - 10) + "\nIt waits.\n\n";
    write_text(folder / "corpus/text.txt", text);
    const std::string sum = run_command("sha256sum < " + (folder / "corpus/text.txt").string()).out.substr(0, 64);
    const nlohmann::json dump{{"file", "dump.bz2"}, {"bytes", 1}, {"sha256", std::string(64, 'a')}};
    write_text(folder / "corpus/text.txt.lineage.json",
               nlohmann::json{{"file", "text.txt"}, {"bytes", text.size()}, {"sha256", sum}, {"made_from", {dump}}}.dump());
    REQUIRE(server.put_folder(folder / "corpus", "sentences"));
    const std::string vocabulary = (folder / "vocab.txt").string();
    REQUIRE(run_command(program + "vocabulary " + (folder / "corpus").string() + " --size 90 --output " + vocabulary).exit_code ==
            0);
    std::string ids[2];
    for (const int remote : {0, 1}) {
        const std::string input = remote == 1 ? "s3://bucket/sentences/text.txt" : (folder / "corpus/text.txt").string();
        const CommandResult made =
            run_command(server.environment() + program + "shard " + input + " --shards 2 --held-out-shards 1 " +
                        "--held-out-fraction 0.1 --sequence-length 32 --vocabulary " + vocabulary + " --output " +
                        (folder / std::to_string(remote)).string());
        CAPTURE(made.err);
        REQUIRE(made.exit_code == 0);
        ids[remote] = run_command(server.environment() + program + "tokenize " + input + " --vocabulary " + vocabulary).out;
    }
    check_equal_shards(folder / "0", folder / "1");
    for (const char* shards : {"0", "1"})  // the record beside the text counts
        CHECK(nlohmann::json::parse(read_text(folder / shards / "manifest.json")).at("corpus").at(0).at("made_from").at(0) ==
              dump);
    CHECK(ids[0].size() > 100'000);
    CHECK((ids[0] == ids[1]));
}

TEST_CASE("Parquet is read by few ranged requests, without a copy on the disk") {
    if (!std::filesystem::exists(parquet_module)) SKIP_TEST(why_no_module, parquet_module);
    const FileServer server;
    const TemporaryFolder folder;
    const auto path = [&](const std::string& name) { return (folder / name).string(); };
    write_text(folder / "jsonl", jsonl_of(0, 120'000));
    REQUIRE(run_command(PYTHON " -c \"import json, sys, pyarrow, pyarrow.parquet as p; p.write_table(pyarrow.Table.from_pylist("
                               "[json.loads(l) for l in open('" +
                        path("jsonl") + "')]), '" + path("parquet") +
                        "', row_group_size=500, compression='none', use_dictionary=False)\"")
                .exit_code == 0);
    server.put("corpus", read_text(folder / "parquet"));
    const std::uint64_t blocks = std::filesystem::file_size(folder / "parquet") / (8U << 20U);
    REQUIRE(blocks >= 1);
    REQUIRE(run_command(program + "extract " + path("parquet") + " --output " + path("local")).exit_code == 0);
    const CommandResult read =
        run_command("env TMPDIR=/missing " + program + "extract " + server.at("/files/corpus") + " --output " + path("remote"));
    CAPTURE(read.err);
    REQUIRE(read.exit_code == 0);
    CHECK((read_text(folder / "remote") == read_text(folder / "local")));
    CHECK(nlohmann::json::parse(read_text(folder / "remote.lineage.json")).at("made_from").at(0).at("sha256") ==
          nlohmann::json::parse(read_text(folder / "local.lineage.json")).at("made_from").at(0).at("sha256"));
    CHECK(server.count("GET /files/corpus ") <= 2 * (blocks + 3));  // for the sample, then for the documents
    const std::size_t before = server.count("GET /files/corpus ");
    REQUIRE(run_command(program + "deduplicate --exact-only --id-field id --text-field text " + server.at("/files/corpus") +
                        " --output " + path("clean"))
                .exit_code == 0);
    CHECK(server.count("GET /files/corpus ") - before <= 2 * (blocks + 3));
}

TEST_CASE("a dataset of the hub is read with its token, which no message and no other server gets") {
    const FileServer server;
    const TemporaryFolder folder;
    write_corpus(server.file("o/n/data"));
    server.put("o/n/README.md", "# A card\n");
    const std::string hub = "env HF_ENDPOINT=" + server.endpoint() + " ";
    REQUIRE(run_command(program + "extract " + server.file("o/n/data").string() + " --output " + (folder / "local").string())
                .exit_code == 0);
    const CommandResult result = run_command(hub + "HF_TOKEN=verysecret " + program + "extract hf://datasets/o/n --output " +
                                             (folder / "remote").string());
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK((read_text(folder / "remote") == read_text(folder / "local")));
    const std::string record = read_text(folder / "remote.lineage.json");
    CHECK_THAT(record, Contains("\"hf://datasets/o/n/data/a.jsonl\"") && !Contains("verysecret"));
    CHECK(server.count("other GET /files/o/n/data/") > 5);
    CHECK(server.count("verysecret") == server.count("first "));

    CHECK_THAT(
        refusal_of(hub + "HF_TOKEN= HF_HOME=/missing " + program + "extract hf://datasets/o/n", 2, folder),
        Contains("status 401") && Contains("\n  do: check the name; for a private or gated dataset give a token in HF_TOKEN"));
}

TEST_CASE(
    "an object that is missing, refused, changing or not served in parts ends a command with one message and nothing written") {
    const FileServer server;
    const TemporaryFolder folder;
    server.put("large.jsonl", jsonl_of(0, 12'000));
    server.put("small.txt", "One.\n\nTwo.\n");
    write_text(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\ntwo\n.\n");
    const std::string extract = program + "extract ";
    CHECK_THAT(refusal_of(extract + server.at("/files/missing"), 3, folder),
               Contains("data error: " + server.at("/files/missing") + ": does not exist (status 404)\n  do: check the address"));
    CHECK_THAT(refusal_of(extract + server.at("/secret/small.txt"), 2, folder),
               Contains("config error: " + server.at("/secret/small.txt") + ": GET failed: status 403\n  do: download"));
    CHECK_THAT(refusal_of(extract + server.at("/changing/large.jsonl"), 3, folder),
               Contains("data error: " + server.at("/changing/large.jsonl") + ": changed while it was read"));
    CHECK_THAT(refusal_of(extract + server.at("/whole/large.jsonl"), 2, folder),
               Contains("expected support for ranges (status 206)\n  do: download the file") && Contains("curl -sL"));
    CHECK_THAT(refusal_of(extract + server.at("/files/small.txt?key=verysecret"), 2, folder), Contains("has a query"));
    CHECK_THAT(refusal_of(program + "shard --compatible-with nvidia " + server.at("/files/small.txt") + " --vocabulary " +
                              (folder / "vocab.txt").string(),
                          2, folder),
               Contains("/files/small.txt: is an address, but --compatible-with reads local files"));
    const std::string whole = (folder / "whole").string();
    CHECK(run_command(extract + server.at("/whole/small.txt") + " --output " + whole).exit_code == 0);
    CHECK(read_text(whole) == "One.\n\nTwo.\n\n");
}
