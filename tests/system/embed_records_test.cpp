// `embed` reads every format that `shard` reads, a vector per record, and writes .npy, .h5 and .parquet with the records' ids.
#include "support/catch.h"
#include "support/file_server.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string embed_command(const fs::path& input, const fs::path& output, const std::string& options = "") {
    return "env OMP_NUM_THREADS=1 " + train_program + " embed " + finished_run().run.string() + " " + input.string() +
           " --output " + output.string() + " " + options;
}

CommandResult embed(const fs::path& input, const fs::path& output, const std::string& options = "") {
    return run_command(embed_command(input, output, options));
}

CommandResult write_records(const fs::path& folder, int count) {
    return run_command(PYTHON " tests/system/write_records.py " + folder.string() + " " + std::to_string(count));
}

}  // namespace

TEST_CASE("records of every format have the vectors of sentence-transformers, in order, with their ids") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult written = write_records(folder.path(), 40);
    if (lacks_package(written)) SKIP_TEST(skip::no_oracle, "no Python with pyarrow");
    REQUIRE(written.exit_code == 0);
    const std::vector<std::pair<std::string, std::string>> cases{{"records.jsonl", "jsonl.npy"},
                                                                 {"records.csv", "csv.h5"},
                                                                 {"records.parquet", "pq.parquet"},
                                                                 {"records.jsonl.gz", "gz.npy"},
                                                                 {"records.csv.zst", "zst.h5"}};
    std::string files;
    for (const auto& [input, output] : cases) {
        const CommandResult done = embed(folder / input, folder / output, "--id-field id");
        INFO(input << done.err);
        REQUIRE(done.exit_code == 0);
        CHECK(missing_words(done.err, {"records are longer than 64 tokens"}) == "");
        CHECK_FALSE(fs::exists((folder / output).string() + ".partial"));
        files += " " + (folder / output).string();
    }
    REQUIRE(run_command("cat " + (folder / "records.jsonl.gz").string() + " | " + embed_command("-", folder / "plain.parquet"))
                .exit_code == 0);
    REQUIRE(embed(folder / "records.parquet", folder / "ranks.npy", "--local-ranks 2").exit_code == 0);
    files += " " + (folder / "plain.parquet").string() + " " + (folder / "ranks.npy").string();
    CHECK((read_text(folder / "ranks.npy") == read_text(folder / "jsonl.npy")));
    REQUIRE(run_command(train_program + " export " + finished_run().run.string() + " --format sentence-transformers --output " +
                        (folder / "st").string())
                .exit_code == 0);
    const CommandResult compared = run_command("env OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/record_vectors.py " +
                                               (folder / "st").string() + " " + (folder / "records.jsonl").string() + files);
    if (lacks_package(compared)) SKIP_TEST(skip::no_oracle, "no Python with sentence-transformers, h5py and pyarrow");
    INFO(compared.err);
    REQUIRE(compared.exit_code == 0);
    const json differences = json::parse(compared.out);
    CHECK(differences.size() == cases.size() + 2);
    for (const auto& [name, found] : differences.items()) {
        CAPTURE(name, found.dump());
        CHECK(found.at(0).get<double>() < 1e-6);
        CHECK(found.at(1).get<bool>() == (name != "plain.parquet" && name != "ranks.npy"));
    }
    CHECK(run_command(train_program + " compare " + (folder / "jsonl.npy").string() + " " + (folder / "csv.h5").string())
              .exit_code == 0);
}

TEST_CASE("compressed plain text has a vector per line, as uncompressed text has") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "text", "One line.\n\nThe third, with a comma.\n");
    REQUIRE(run_command("gzip -k " + (folder / "text").string()).exit_code == 0);
    REQUIRE(embed(folder / "text", folder / "plain.npy").exit_code == 0);
    REQUIRE(embed(folder / "text.gz", folder / "packed.npy").exit_code == 0);
    CHECK((read_text(folder / "plain.npy") == read_text(folder / "packed.npy")));
}

TEST_CASE("text and records at an address have the vectors of the same local files") {
    NEEDS_TRAIN();
    const FileServer server;
    const TemporaryFolder folder;
    std::string records, lines;
    for (int i = 0; i < 20; ++i) {
        records += R"({"id": )" + std::to_string(i) + R"(, "text": "It rained for )" + std::to_string(i) + " days.\"}\n";
        lines += "It rained for " + std::to_string(i) + " days.\n";
    }
    server.put("records.jsonl", records);
    server.put("lines", lines);
    REQUIRE(run_command("gzip -k " + server.file("lines").string()).exit_code == 0);
    for (const std::string name : {"records.jsonl", "lines", "lines.gz"}) {
        const CommandResult local = embed(server.file(name), folder / (name + "_local.npy"));
        const CommandResult remote = embed(server.at("/files/" + name), folder / (name + "_remote.npy"));
        CAPTURE(local.err, remote.err);
        REQUIRE(local.exit_code == 0);
        REQUIRE(remote.exit_code == 0);
        CHECK((read_text(folder / (name + "_local.npy")) == read_text(folder / (name + "_remote.npy"))));
        CHECK_FALSE(fs::exists((folder / (name + "_remote.npy")).string() + ".partial"));
    }
    const CommandResult missing = embed(server.at("/files/missing"), folder / "none.npy");
    CHECK(missing.exit_code == 3);
    CHECK(missing_words(missing.err, {server.at("/files/missing") + ": does not exist (status 404)"}) == "");
}

TEST_CASE("an interrupted embedding of records continues with other ranks, but not with other ids") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    if (write_records(folder.path(), 13'000).exit_code != 0) SKIP_TEST(skip::no_oracle, "no Python with pyarrow");
    REQUIRE(embed(folder / "records.jsonl", folder / "right.parquet", "--id-field id").exit_code == 0);
    const fs::path killed = folder / "killed.parquet";
    {
        Process process(embed_command(folder / "records.jsonl", killed, "--id-field id"));
        REQUIRE(wait_until(process, [&] {  // a part is done: its entry in the list is no longer -1
            const std::string marks = read_text(killed.string() + ".partial/done");
            return marks.find('\0') != std::string::npos;
        }));
        process.send(SIGKILL);
        process.wait();
    }
    const CommandResult other = embed(folder / "records.jsonl", killed, "--id-field price");
    CHECK(other.exit_code == 2);
    CHECK(missing_words(other.err, {"begun with a different ids_crc32"}) == "");
    const CommandResult resumed = embed(folder / "records.jsonl", killed, "--id-field id --local-ranks 2");
    INFO(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    CHECK(missing_words(resumed.err, {"continuing with"}) == "");
    CHECK((read_text(killed) == read_text(folder / "right.parquet")));
}

TEST_CASE("embed refuses a malformed record, a field that is missing, and ids that a text file cannot hold") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path output = folder / "vectors.npy";
    write_text(folder / "bad.jsonl", "{\"text\": \"one\", \"id\": \"a\\nb\"}\n{\"text\": 2, \"id\": \"c\"}\n");
    const CommandResult bad = embed(folder / "bad.jsonl", output);
    CHECK(bad.exit_code == 3);
    CHECK(missing_words(bad.err, {"bad.jsonl:2", "its field \"text\" is a number"}) == "");
    const CommandResult piped = run_command("cat " + (folder / "bad.jsonl").string() + " | " + embed_command("-", output));
    CHECK(piped.exit_code == 3);
    CHECK(missing_words(piped.err, {"standard input:2"}) == "");
    const CommandResult field = embed(folder / "bad.jsonl", output, "--text-field body");
    CHECK(field.exit_code == 3);
    CHECK(missing_words(field.err, {"has no field \"body\""}) == "");
    write_text(folder / "good.jsonl", "{\"text\": \"one\", \"id\": \"a\\nb\"}\n");
    const CommandResult ids = embed(folder / "good.jsonl", output, "--id-field id");
    CHECK(ids.exit_code == 3);
    CHECK(missing_words(ids.err, {"row 1 has a line break", ".h5 or .parquet"}) == "");
    CHECK(ids.err.find("lines/s") == std::string::npos);  // refused before anything is computed
    CHECK_FALSE(fs::exists(output));
    write_text(folder / "text", "plain\n");
    const CommandResult plain = embed(folder / "text", folder / "other.npy", "--id-field id");
    CHECK(plain.exit_code == 2);
    CHECK(missing_words(plain.err, {"text: is plain text", "--id-field"}) == "");
    write_text(folder / "other.ids.txt", "mine\n");
    const CommandResult beside = embed(folder / "good.jsonl", folder / "other.npy", "--id-field id");
    CHECK(beside.exit_code == 2);
    CHECK(missing_words(beside.err, {"other.ids.txt: exists"}) == "");
    const CommandResult without_ids = embed(folder / "good.jsonl", folder / "other.npy");  // whose rows would get these ids
    CHECK(without_ids.exit_code == 2);
    CHECK(missing_words(without_ids.err, {"other.ids.txt: exists"}) == "");
}

TEST_CASE("letters are set apart in FASTA, whose names are the ids, and where it is asked for") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "spaced.txt", "M K V L\n\nA A\n");
    write_text(folder / "plain.txt", "MKVL\n\nAA\n");
    write_text(folder / "records.jsonl", "{\"text\": \"MKVL\"}\n{\"text\": \"\"}\n{\"text\": \"AA\"}\n");
    write_text(folder / "two.fasta", ">first of two\nMK\nVL\n>second\nAA\n");
    write_text(folder / "two.txt", "M K V L\nA A\n");
    const auto vectors = [&](const std::string& input, const std::string& options = "") {
        const CommandResult done = embed(folder / input, folder / (input + ".npy"), options);
        INFO(done.err);
        REQUIRE(done.exit_code == 0);
        return read_text(folder / (input + ".npy"));
    };
    const std::string expected = vectors("spaced.txt");
    CHECK((vectors("plain.txt", "--letters apart") == expected));
    CHECK((vectors("records.jsonl", "--letters apart") == expected));
    CHECK((vectors("two.fasta") == vectors("two.txt")));
    CHECK(read_text(folder / "two.fasta.ids.txt") == "first\nsecond\n");
}

TEST_CASE("ids of which fewer than half are distinct are kept with a warning") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "records.jsonl",
               "{\"text\": \"one\", \"id\": 1, \"lang\": \"en\"}\n{\"text\": \"two\", \"id\": 2, \"lang\": \"en\"}\n"
               "{\"text\": \"three\", \"id\": 2, \"lang\": \"en\"}\n");
    const CommandResult few = embed(folder / "records.jsonl", folder / "few.npy", "--id-field lang");
    CHECK(few.exit_code == 0);
    CHECK(missing_words(few.err, {"--id-field lang", "distinct ids among the first 3 records: 1"}) == "");
    const CommandResult most = embed(folder / "records.jsonl", folder / "most.npy", "--id-field id");
    CHECK(most.exit_code == 0);
    CHECK(most.err.find("distinct") == std::string::npos);
}

TEST_CASE("the same command completes vectors whose origin could not be written, also after the ids have their name") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "items.jsonl", "{\"sku\":\"a\",\"text\":\"the sun\"}\n{\"sku\":\"b\",\"text\":\"the moon\"}\n");
    fs::create_directory(folder / "v.origin.json");
    const CommandResult failed = embed(folder / "items.jsonl", folder / "v.npy", "--id-field sku");
    CHECK(failed.exit_code == 3);
    CHECK(missing_words(failed.err, {"v.origin.json"}) == "");
    fs::remove(folder / "v.origin.json");
    fs::rename(folder / "v.npy.partial/ids.txt", folder / "v.ids.txt");  // as a kill between two renames leaves it
    const CommandResult done = embed(folder / "items.jsonl", folder / "v.npy", "--id-field sku");
    INFO(done.err);
    CHECK(done.exit_code == 0);
    CHECK(read_text(folder / "v.ids.txt") == "a\nb\n");
    CHECK(fs::exists(folder / "v.npy"));
    CHECK_FALSE(fs::exists(folder / "v.npy.partial"));
}

TEST_CASE("embed of a folder, or of files of a list, gives the vectors of its files one after the other, and ids") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    fs::create_directories(folder / "in");
    write_text(folder / "in/a.txt", "One line.\nAnother.\n");
    write_text(folder / "in/b.jsonl", "{\"text\": \"The third.\"}\n");
    write_text(folder / "all.txt", "One line.\nAnother.\nThe third.\n");
    write_text(folder / "list", (folder / "in/a.txt").string() + "\n" + (folder / "in/b.jsonl").string() + "\n");
    REQUIRE(embed(folder / "all.txt", folder / "all.npy").exit_code == 0);
    const CommandResult done = embed(folder / "in", folder / "folder.npy", "--local-ranks 2");
    INFO(done.err);
    REQUIRE(done.exit_code == 0);
    CHECK_FALSE(fs::exists(folder / "folder.npy.partial"));
    REQUIRE(embed("", folder / "list.npy", "--inputs-from " + (folder / "list").string()).exit_code == 0);
    CHECK((read_text(folder / "folder.npy") == read_text(folder / "all.npy")));
    CHECK((read_text(folder / "list.npy") == read_text(folder / "all.npy")));
    const std::string a = (folder / "in/a.txt").string(), b = (folder / "in/b.jsonl").string();
    CHECK(read_text(folder / "folder.ids.txt") == a + ":1\n" + a + ":2\n" + b + ":1\n");
    const CommandResult near =
        run_command("env OMP_NUM_THREADS=1 " + train_program + " neighbours " + (folder / "folder.npy").string() +
                    " --rows 0 --top 2 --text " + (folder / "in").string());
    INFO(near.err);
    CHECK(near.exit_code == 0);
    CHECK(missing_words(near.out, {"The third."}) == "");
}

TEST_CASE("interrupted work is not continued with another tokenizer or other settings of the model") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path model = folder / "model";
    REQUIRE(run_command(train_program + " export " + finished_run().run.string() + " --format hf --output " + model.string())
                .exit_code == 0);
    write_text(folder / "text", "the sun is a star\n");
    fs::create_directory(folder / "v.origin.json");  // the work ends before it is complete
    const std::string command = "env OMP_NUM_THREADS=1 " + train_program + " embed " + model.string() + " " +
                                (folder / "text").string() + " --output " + (folder / "v.npy").string();
    CHECK(run_command(command).exit_code == 3);
    fs::remove(folder / "v.origin.json");
    const auto refused_after = [&](const char* name, const std::string& from, const std::string& to, const char* part) {
        const std::string content = read_text(model / name);
        std::string changed = content;
        REQUIRE(changed.find(from) != std::string::npos);
        changed.replace(changed.find(from), from.size(), to);
        write_text(model / name, changed);
        const CommandResult refused = run_command(command);
        CHECK(refused.exit_code == 2);
        CHECK(missing_words(refused.err, {"v.npy.partial: was begun with a different", part}) == "");
        write_text(model / name, content);
    };
    refused_after("tokenizer_config.json", "\"tokenize_chinese_chars\": true", "\"tokenize_chinese_chars\": false",
                  "tokenizer_crc32");
    refused_after("config.json", "\"layer_norm_eps\": ", "\"layer_norm_eps\": 1", "settings_crc32");
    CHECK(run_command(command).exit_code == 0);
}
