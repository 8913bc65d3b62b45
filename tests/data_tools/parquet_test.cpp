// Parquet as the input of commands, with pyarrow as the writer.

#include <algorithm>

#include "data_tools/parquet_module.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

/// 60 documents as JSONL, as the Parquet files of write_parquet.py, and the commands that read them.
struct ParquetCorpus {
    ParquetCorpus() {
        std::string jsonl;
        for (int i = 0; i < 60; ++i) {
            const std::string n = std::to_string(i);
            jsonl += "{\"id\": " + n + ", \"text\": \"Die \\\"alte\\\" Katze " + n +
                     " saß. It saw, at last, a dog.\\nWhy? It ran " + n + " times.\"}\n";
        }
        write_text(folder / "jsonl", jsonl);
        const auto written = run_command(PYTHON " tests/data_tools/write_parquet.py " + path("jsonl") + " " + path(""));
        CAPTURE(written.err);
        REQUIRE(written.exit_code == 0);
    }
    std::string path(const std::string& name) const { return (folder / name).string(); }
    CommandResult extract(const std::string& inputs) const {
        return run_command(PROGRAM_FOLDER "/bertpretrain_data extract " + inputs + " --output " + path("text.txt"));
    }

    TemporaryFolder folder;
};

}  // namespace

TEST_CASE("documents of Parquet are those of JSONL, in any string type, encoding, compression and size of row groups") {
    if (!std::filesystem::exists(parquet_module)) SKIP_TEST(why_no_module, parquet_module);
    const ParquetCorpus corpus;
    REQUIRE(corpus.extract(corpus.path("jsonl")).exit_code == 0);
    const std::string expected = read_text(corpus.path("text.txt"));
    REQUIRE_THAT(expected, Contains("Die \"alte\" Katze 59 saß.\n"));
    const auto check = [&](const std::string& inputs) {
        const auto result = corpus.extract(inputs);
        CAPTURE(inputs, result.err);
        CHECK(result.exit_code == 0);
        CHECK((read_text(corpus.path("text.txt")) == expected));
    };
    for (const char* name : {"plain", "snappy", "zstd", "gzip", "delta", "checked"}) check(corpus.path(name));
    check("--format parquet --text-field text --threads 1 " + corpus.path("plain"));
    check("--text-field meta.of.text --id-field id " + corpus.path("structs"));
    check("--text-field product.title,product.none,product.body --id-field id " + corpus.path("halves"));
    check("- < " + corpus.path("zstd"));
    check("--encoding latin-1 - < " + corpus.path("zstd"));
    REQUIRE(run_command("gzip -c " + corpus.path("plain") + " > " + corpus.path("packed")).exit_code == 0);
    check(corpus.path("packed"));
}

TEST_CASE("a folder may mix Parquet with other formats, and all commands read it") {
    if (!std::filesystem::exists(parquet_module)) SKIP_TEST(why_no_module, parquet_module);
    const ParquetCorpus corpus;
    const std::string program = PROGRAM_FOLDER "/bertpretrain_data ", mixed = corpus.path("mixed");
    std::filesystem::create_directory(mixed);
    std::filesystem::copy(corpus.path("plain"), mixed + "/a");
    write_text(mixed + "/b", "{\"id\": 7, \"text\": \"Two is.\"}\n");
    REQUIRE(corpus.extract(mixed).exit_code == 0);
    CHECK_THAT(read_text(corpus.path("text.txt")), Contains("It ran 59 times.\n\nTwo is.\n"));
    CHECK(run_command(program + "vocabulary " + mixed + " --size 120 --output " + corpus.path("vocab.txt")).exit_code == 0);
    CHECK(run_command(program + "shard " + mixed + " --vocabulary " + corpus.path("vocab.txt") +
                      " --shards 1 --held-out-fraction 0 --output " + corpus.path("shards"))
              .exit_code == 0);
    for (const char* name : {"plain", "gzip", "delta", "checked"}) {  // ids of all types; the file twice, so that all are named
        std::filesystem::copy(corpus.path(name), mixed + "/a_" + name);
        const std::string output = corpus.path(std::string("deduplicated_") + name);
        CHECK(run_command(program + "deduplicate --id-field id --exact-only " + mixed + " --output " + output).exit_code == 0);
        CHECK_THAT(read_text(output + "/duplicates.tsv"), Contains(std::string("/a_") + name + ":60 59"));
        std::filesystem::remove(mixed + "/a_" + name);
    }
}

TEST_CASE("Parquet without usable text ends with one message that names file and column or row") {
    if (!std::filesystem::exists(parquet_module)) SKIP_TEST(why_no_module, parquet_module);
    const ParquetCorpus corpus;
    const std::string whole = read_text(corpus.path("checked"));
    write_text(corpus.folder / "half", whole.substr(0, whole.size() / 2));
    std::string changed = whole;
    changed[changed.find("Katze 30")] = 'T';  // contradicts the page's checksum
    write_text(corpus.folder / "changed", changed);
    const std::pair<const char*, const char*> cases[] = {
        {"null", "null:42: its field \"text\" is null"},
        {"latin", "latin:6: its text is not UTF-8"},
        {"null_structs --text-field meta.text", "null_structs:42: its field \"meta.text\" is null"},
        {"large", "large:8: is larger than 64 MiB"},
        {"empty", "no document found"},
        {"body", "body: has no column \"text\", only: id, body"},
        {"halves --text-field product",
         "has no column \"product\", only: product.title, product.body, product.none, id; "
         "\"product\" is a struct\n  do: name the column with --text-field, for example --text-field product.title"},
        {"body --text-field body --id-field n", "body: has no column \"n\""},
        {"numbers", "numbers: its column \"text\" holds INT64"},
        {"lists --text-field text.list.element", "its column \"text.list.element\" holds lists of BYTE_ARRAY"},
        {"lists", "lists: its column \"text\" holds lists, expected strings\n  do: join each list"},
        {"half", "half: cannot be read as Parquet: "},
        {"changed", "changed: cannot be read as Parquet: could not verify page integrity"},
        {"jsonl --format parquet", "jsonl: is not a Parquet file"},
        {"plain --format text", "plain: is a Parquet file"},
    };
    for (const auto& [input, message] : cases) {
        const auto result = corpus.extract(corpus.path(input));
        CAPTURE(input, result.err);
        CHECK(result.exit_code == 3);
        CHECK_THAT(result.err, Contains(message));
        CHECK_FALSE(std::filesystem::exists(corpus.path("text.txt")));
    }
    for (const char* input : {"null:42: ", "large:8: "}) {
        const std::string name(input, std::string(input).find(':'));
        const auto lenient = corpus.extract(corpus.path(name) + " --max-bad 0.1");
        CHECK(lenient.exit_code == 0);
        CHECK_THAT(lenient.err, Contains("1 of 60 records are malformed") && Contains(input));
    }
}

TEST_CASE("no damaged byte and no cut of a Parquet file ends a command otherwise than with its message") {
    if (!std::filesystem::exists(parquet_module)) SKIP_TEST(why_no_module, parquet_module);
    const ParquetCorpus corpus;
    std::uint64_t state = 7;
    const auto random = [&](std::size_t below) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(state >> 33) % below;
    };
    for (const char* name : {"snappy", "zstd", "gzip", "delta"}) {
        const std::string whole = read_text(corpus.path(name));
        for (int i = 0; i < 25; ++i) {
            std::string damaged = whole;
            for (std::size_t bytes = 1 + random(3); bytes > 0; --bytes)  // half of them in the directory at the end
                damaged[i % 2 == 0 ? random(whole.size()) : whole.size() - 1 - random(1000)] = static_cast<char>(random(256));
            if (i % 10 == 9) damaged.erase(random(whole.size() - 8), 1 + random(8));
            write_text(corpus.folder / "damaged", damaged);
            const auto result = corpus.extract("--max-bad 1 " + corpus.path("damaged"));
            CAPTURE(name, i, result.err);
            CHECK((result.exit_code == 0 || result.exit_code == 3));
        }
    }
}

TEST_CASE("a program without the module refuses Parquet with what to install, and reads all else") {
    const TemporaryFolder folder;
    std::filesystem::copy(PROGRAM_FOLDER "/bertpretrain_data", folder / "alone");
    write_text(folder / "table", "PAR1 and more");
    write_text(folder / "text", "One is.\n");
    const std::string command = (folder / "alone").string() + " extract --output " + (folder / "out").string() + " ";
    const auto result = run_command(command + (folder / "table").string());
    CHECK(result.exit_code == 3);
    CHECK_THAT(result.err, Contains("table: is a Parquet file, which this program reads with Arrow only") &&
                               Contains("in a checkout, scripts/setup.sh") && Contains("pip install 'bertpretrain[parquet]'") &&
                               Contains("convert the file to JSONL"));
    CHECK(run_command(command + (folder / "text").string()).exit_code == 0);
}
