// The inputs of all commands that read documents: every format and compression, and bad inputs.

#include <algorithm>

#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"

using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

const std::string data_program = PROGRAM_FOLDER "/bertpretrain_data";

/// The same 60 documents of paragraphs in three formats, and a vocabulary.
struct FormatCorpus {
    FormatCorpus() {
        std::string text, jsonl, csv = "id,text\r\n";
        for (int i = 0; i < 60; ++i) {
            const std::string n = std::to_string(i);
            const std::string first = "The \"old\" cat " + n + " sat. It saw, at last, a dog.",
                              second = "The dog ran " + n + " times. Why? It did.";
            text += first + "\n" + second + "\n\n";
            jsonl += "{\"id\": " + n + ", \"text\": \"The \\\"old\\\" cat " + n + " sat. It saw, at last, a dog.\\n" + second +
                     "\"}\n";
            csv += n + ",\"The \"\"old\"\" cat " + n + " sat. It saw, at last, a dog.\n" + second + "\"\r\n";
        }
        write_text(folder / "corpus.txt", text);
        write_text(folder / "corpus.jsonl", jsonl);
        write_text(folder / "corpus.csv", csv);
        std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
        for (const char* word : {"the", "cat", "dog", "sat", "ran", "it", "saw", "why", ".", "?", "1", "2", "##1", "##2"})
            vocabulary += std::string(word) + "\n";
        write_text(folder / "vocab.txt", vocabulary);
    }
    std::string path(const std::string& name) const { return (folder / name).string(); }
    std::string shard(const std::string& input, const std::string& output) const {
        return data_program + " shard " + input + " --vocabulary " + path("vocab.txt") + " --output " + path(output) +
               " --shards 2 --held-out-fraction 0 --sequence-length 32 ";
    }

    TemporaryFolder folder;
};

std::string shards_in(const std::string& folder) {
    return read_text(folder + "/corpus_training_0000.h5") + read_text(folder + "/corpus_training_0001.h5");
}

}  // namespace

TEST_CASE("inputs are read from a list, after those of the command line") {
    const FormatCorpus corpus;
    const std::string output = " --output " + corpus.path("out"), extract = data_program + " extract ";
    const std::string files[] = {corpus.path("corpus.txt"), corpus.path("corpus.jsonl"), corpus.path("corpus.csv")};
    REQUIRE(run_command(extract + files[0] + " " + files[1] + " " + files[2] + output).exit_code == 0);
    const std::string expected = read_text(corpus.path("out"));
    write_text(corpus.folder / "list", files[1] + "\r\n\n" + files[2]);
    REQUIRE(run_command(extract + files[0] + " --inputs-from " + corpus.path("list") + output).exit_code == 0);
    CHECK((read_text(corpus.path("out")) == expected));
    REQUIRE(
        run_command("ls " + files[0] + " " + files[1] + " " + files[2] + " | sort -r | " + extract + "--inputs-from -" + output)
            .exit_code == 0);
    CHECK((read_text(corpus.path("out")) == expected));

    write_text(corpus.folder / "empty", "\n");
    const std::pair<const char*, std::string> refusals[] = {{"", "INPUT: is required, except with --inputs-from FILE"},
                                                            {"--inputs-from", "lists no input, expected one per line"},
                                                            {"- --inputs-from - <", "standard input is an input too"},
                                                            {"--inputs-from /missing/list #", "/missing/list: cannot be read"}};
    for (const auto& [options, why] : refusals) {
        const std::string list = *options == '\0' ? "" : " " + corpus.path("empty");
        const auto result = run_command(extract + "--output " + corpus.path("none") + " " + options + list);
        CAPTURE(options, result.err);
        CHECK(result.exit_code == (why.starts_with("/missing") ? 3 : 2));
        CHECK_THAT(result.err, Contains(why));
    }
}

TEST_CASE("text, JSONL and CSV of the same documents, compressed or not, become the same shards as after extract") {
    const FormatCorpus corpus;
    REQUIRE(run_command(data_program + " extract " + corpus.path("corpus.txt") + " --output " + corpus.path("sentences.txt"))
                .exit_code == 0);
    CHECK(read_text(corpus.path("sentences.txt"))
              .starts_with("The \"old\" cat 0 sat.\nIt saw, at last, a dog.\nThe dog ran 0 times.\nWhy?\nIt did.\n\n"));
    REQUIRE(run_command(corpus.shard(corpus.path("sentences.txt"), "expected")).exit_code == 0);
    const std::string expected = shards_in(corpus.path("expected"));
    REQUIRE_FALSE(expected.empty());
    int runs = 0;
    const auto check = [&](const std::string& input) {
        const std::string output = "out" + std::to_string(++runs);
        const auto result = run_command(corpus.shard(input, output));
        CAPTURE(input, result.err);
        CHECK(result.exit_code == 0);
        CHECK((shards_in(corpus.path(output)) == expected));
    };
    for (const char* name : {"corpus.txt", "corpus.jsonl", "corpus.csv"}) {
        check(corpus.path(name));
        check("- < " + corpus.path(name));
        for (const char* pack : {"gzip", "bzip2"}) {
            REQUIRE(run_command(std::string(pack) + " -c " + corpus.path(name) + " > " + corpus.path("packed")).exit_code == 0);
            check(corpus.path("packed"));
        }
    }
    if (run_command("zstd --version").exit_code == 0) {
        REQUIRE(run_command("zstd -qc " + corpus.path("corpus.jsonl") + " > " + corpus.path("packed")).exit_code == 0);
        check(corpus.path("packed"));
    }
}

TEST_CASE("vocabulary and deduplicate read the same inputs") {
    const FormatCorpus corpus;
    for (const char* name : {"corpus.txt", "corpus.jsonl", "corpus.csv"}) {
        const std::string file = corpus.path(name);
        REQUIRE(run_command(data_program + " vocabulary " + file + " --size 60 --output " + file + ".vocab").exit_code == 0);
        CHECK((read_text(file + ".vocab") == read_text(corpus.path("corpus.txt.vocab"))));
        const std::string fields = file.ends_with("txt") ? "" : " --id-field id";
        REQUIRE(
            run_command(data_program + " deduplicate " + file + fields + " --exact-only --output " + file + ".out").exit_code ==
            0);
        CHECK((read_text(file + ".out/text.txt") == read_text(corpus.path("corpus.txt.out/text.txt"))));
    }
}

namespace {

/// Files that no command can use.
struct BadFiles {
    BadFiles() {
        using namespace std::string_literals;
        std::filesystem::create_directory(folder / "nothing");
        write_text(folder / "binary",
                   "\x7F"
                   "ELF\2\1\1\0\0\0\0\0\0\0\3\0\x3E\0\1\0\0\0"s);
        write_text(folder / "latin", "One.\nK\xE4se is here.\n");
        write_text(folder / "text", "One is. Two is.\n");
        write_text(folder / "empty", "");
        write_text(folder / "blank", "\n \n");
        write_text(folder / "field", "{\"body\": \"A.\"}\n");
        write_text(folder / "null", "{\"text\": null}\n");
        write_text(folder / "number", "{\"text\": 5}\n");
        write_text(folder / "cut", "{\"text\": \"A.\"}\n{\"text\": \"B");
        write_text(folder / "pretty", "{\n  \"text\": \"A.\"\n}\n");
        write_text(folder / "array", "[{\"text\": \"A.\"}]\n");
        write_text(folder / "quotes", "id,text\n1,\"A.\n2,B.\n");
        write_text(folder / "lines.tsv", "id\ttext\n1\t\"A.\nB.\"\n2\tC.\n");
        write_text(folder / "columns", "id,body\n1,A.\n2,B.\n");
        write_text(folder / "few", "id,text\n1,A.\n2\n3,C.\n");
        write_text(folder / "table", "PAR1\x15\4 and more PAR1");
        write_text(folder / "wide", "\xFF\xFEO\0n\0e\0"s);
        write_text(folder / "odd", "\xFF\xFEO\0n\0e"s);
        write_text(folder / "page", "<!DOCTYPE html><html><p>One.</p></html>");
        write_text(folder / "half.zst", "\x28\xB5\x2F\xFD\x24\x05\x29\x00\x00h"s);  // a frame of five bytes
        std::string archive(512, '\0');
        write_text(folder / "archive", archive.replace(257, 5, "ustar"));
        make("head -c 40000 /dev/urandom | base64 | gzip -c | head -c 20000", "half.gz");
        make("head -c 40000 /dev/urandom | base64 | bzip2 -c | head -c 20000", "half.bz2");
        make("head -c 40000 /dev/urandom | base64 | gzip -c > " + path("whole.gz") + "; head -c 9000 " + path("whole.gz") +
                 "; head -c 900 /dev/zero; tail -c +9901 " + path("whole.gz"),
             "changed.gz");
        make("echo One is. | xz -c", "packed.xz");
        make("head -c 200000000 /dev/zero | tr '\\0' a | gzip -1", "long.gz");
        make(
            "{ echo '{\"text\": \"A.\"}'; printf '{\"text\": \"'; head -c 200000000 /dev/zero | tr '\\0' a; echo '\"}'; } | gzip "
            "-1",
            "record.gz");
    }
    std::string path(const std::string& name) const { return (folder / name).string(); }
    void make(const std::string& command, const std::string& name) const {
        REQUIRE(run_command("{ " + command + "; } > " + path(name)).exit_code == 0);
    }

    TemporaryFolder folder;
};

struct BadInput {
    std::string input;
    int exit_code;
    std::string message;
};

}  // namespace

TEST_CASE("links to folders are followed in a folder of inputs, and a loop of them is refused by its name") {
    const TemporaryFolder folder;
    const auto extract = [&](const std::string& input) {
        return run_command(PROGRAM_FOLDER "/bertpretrain_data extract " + (folder / input).string() + " --output " +
                           (folder / "text.txt").string());
    };
    for (const char* name : {"corpus", "elsewhere/below"}) std::filesystem::create_directories(folder / name);
    write_text(folder / "elsewhere/below/a.txt", "One is here. Two is here.\n");
    std::filesystem::create_directory_symlink(folder / "elsewhere", folder / "corpus/linked");
    CHECK(extract("corpus").exit_code == 0);
    CHECK(read_text(folder / "text.txt") == "One is here.\nTwo is here.\n\n");
    std::filesystem::create_directory_symlink(folder / "corpus", folder / "elsewhere/below/back");
    const CommandResult loop = extract("corpus");
    CHECK(loop.exit_code == 3);
    CHECK_THAT(loop.err, Contains("corpus/linked/below/back: is a link to a folder that it lies in"));
}

TEST_CASE("FASTA becomes a vocabulary of letters, ids and shards, as text with spaces between the letters does") {
    const FormatCorpus corpus;
    std::string fasta, text;
    for (int i = 0; i < 40; ++i) {
        std::string sequence, apart;
        for (int k = 0; k < 30 + i; ++k) {
            sequence += "MKVRAWL"[(k * k + i * k) % 7];
            apart += (k > 0 ? " " : "") + std::string(1, sequence.back());
        }
        fasta += ">p" + std::to_string(i) + " protein\n" + sequence.substr(0, 20) + "\n" + sequence.substr(20) + "\n";
        text += apart + "\n\n";
    }
    write_text(corpus.folder / "p.faa", fasta);
    write_text(corpus.folder / "p.txt", text);
    for (const std::string name : {"p.faa", "p.txt"}) {
        const auto trained = run_command(data_program + " vocabulary " + corpus.path(name) + " --size 30 --output " +
                                         corpus.path(name + ".vocab"));
        CHECK(trained.exit_code == 0);
        CHECK(read_text(corpus.path(name + ".vocab")) == "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nk\nl\nm\nr\nv\nw\n");
        CHECK(run_command(data_program + " shard " + corpus.path(name) + " --vocabulary " + corpus.path("p.faa.vocab") +
                          " --output " + corpus.path(name + ".shards") +
                          " --objective mlm --shards 2 --held-out-fraction 0 --sequence-length 32")
                  .exit_code == 0);
    }
    CHECK((shards_in(corpus.path("p.faa.shards")) == shards_in(corpus.path("p.txt.shards"))));
    const std::string tokenize = data_program + " tokenize --vocabulary " + corpus.path("p.faa.vocab") + " " + corpus.path("p.");
    std::string expected = run_command(tokenize + "txt").out;  // an empty line after each sequence
    for (std::size_t at; (at = expected.find("\n\n")) != std::string::npos;) expected.erase(at, 1);
    CHECK((run_command(tokenize + "faa").out == expected));
}

TEST_CASE("a page beside the records of a data set is read with a warning that names it") {
    const TemporaryFolder folder;
    const std::string data = (folder / "data").string(),
                      command = data_program + " extract --output " + (folder / "out").string() + " ";
    std::filesystem::create_directory(data);
    write_text(folder / "data/a.jsonl", "{\"text\": \"One is.\"}\n");
    write_text(folder / "data/b.jsonl", "{\"text\": \"Two is.\"}\n");
    CHECK_THAT(run_command(command + data).err, !Contains("warning"));
    write_text(folder / "data/README.md", "# The data\n");
    CHECK_THAT(run_command(command + data).err, Contains("warning: " + data + ": 1 file(s) of plain text") &&
                                                    Contains("beside 2 file(s) of JSONL") &&
                                                    Contains("the first is " + data + "/README.md"));
    CHECK_THAT(run_command(command + data + "/*.jsonl").err, !Contains("warning"));
}

TEST_CASE("bad inputs end every command with one message, the documented exit code and no output") {
    const BadFiles files;
    const auto path = [&](const std::string& name) { return files.path(name); };
    const bool has_arrow = std::filesystem::exists(PROGRAM_FOLDER "/libbertpretrain_parquet.so");
    const std::vector<BadInput> cases = {
        {path("binary"), 3, "binary: is a program"},
        {path("latin"), 3, "latin: byte 6 is not UTF-8"},
        {path("text") + " --encoding klingon", 2, "--encoding klingon: is not an encoding"},
        {path("half.gz"), 3, "half.gz: cut short"},
        {path("half.bz2"), 3, "half.bz2: cut short"},
        {path("half.zst"), 3, "half.zst: cut short"},
        {path("changed.gz"), 3, "changed.gz: damaged near byte"},
        {path("packed.xz"), 3, "unpack it first"},
        {path("archive"), 3, "archive: is a tar archive"},
        {path("long.gz"), 3, "that begins here is larger than 64 MiB"},
        {path("record.gz"), 3, "record.gz:2: is larger than 64 MiB"},
        {path("empty"), 3, "empty: is empty"},
        {path("blank"), 3, ""},
        {path("nothing"), 3, "nothing: is a folder without files"},
        {path("absent"), 3, "absent: does not exist"},
        {path("field"), 3, "field:1: has no field \"text\", only: body"},
        {path("null"), 3, "null:1: its field \"text\" is null"},
        {path("number"), 3, "number:1: its field \"text\" is a number"},
        {path("cut"), 3, "cut:2: is not JSON"},
        {path("pretty"), 3, "pretty: is JSON whose objects do not stand one per line"},
        {path("array"), 3, "array: is one JSON array"},
        {path("quotes"), 3, "quotes:2: has a quote that is never closed"},
        {path("lines.tsv"), 3, "lines.tsv:3: has 1 fields, expected 2; in TSV a line is a record"},
        {path("columns"), 3, "columns:1: has no column \"text\", only: id, body"},
        {path("few"), 3, "few:3: has 1 fields, expected 2"},
        {path("table"), 3, has_arrow ? "table: cannot be read as Parquet" : "table: is a Parquet file"},
        {path("wide") + " --format jsonl", 3, "wide:1: is not JSON"},
        {path("odd") + " --encoding utf-16", 3, "odd: ends in the middle of a character of UTF-16LE"},
        {path("page"), 3, "page: is an HTML page"},
        {path("text") + " " + path("text"), 2, "text: is given twice"},
        {path("text") + " " + path("nothing/../text"), 2, "is given twice, also as"},
        {"- - < /dev/null", 2, "standard input (-) is given twice"},
        {path("text") + " --format word", 2, "--format"},
        {path("text") + " --format parquet", 3, "text: is not a Parquet file"},
        {path("text") + " --text-field a,,b", 2, "--text-field \"a,,b\": has an empty name"},
        {path("text") + " --text-field a,b,a", 2, "--text-field \"a,b,a\": names \"a\" twice"},
        {path("text") + " --max-bad 2", 2, "--max-bad"},
        {path("field") + " " + path("text") + " --text-field words", 3, "has no field \"words\", only: body"},
        {path("field") + " --text-field body --id-field name", 3, "has no field \"name\" of --id-field, only: body"},
    };
    write_text(files.folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\none\n");
    const std::string commands[] = {
        " extract --output " + path("out"), " vocabulary --size 60 --output " + path("out"),
        " deduplicate --output " + path("out"),
        " shard --shards 1 --held-out-fraction 0 --vocabulary " + path("vocab.txt") + " --output " + path("out")};
    for (const BadInput& bad : cases)
        for (const std::string& command : commands) {
            const auto result = run_command(data_program + command + " " + bad.input);
            CAPTURE(command, bad.input, result.err);
            CHECK(result.exit_code == bad.exit_code);
            CHECK_THAT(result.err, Contains(bad.message));
            CHECK(result.out.empty());
            CHECK((!std::filesystem::exists(path("out")) || std::filesystem::is_empty(path("out"))));
            std::filesystem::remove_all(path("out"));
        }
}

TEST_CASE("vocabularies and tokenizers that cannot be used, or do not fit the shards, are refused by what is wrong with them") {
    const FormatCorpus corpus;
    const auto path = [&](const std::string& name) { return corpus.path(name); };
    const std::string special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    write_text(corpus.folder / "no_mask.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\n");
    write_text(corpus.folder / "twice.txt", special + "the\ncat\nthe\n");
    write_text(corpus.folder / "gap.txt", special + "the\n\ncat\n");
    write_text(corpus.folder / "small.txt", special + "the\n");
    write_text(corpus.folder / "empty.txt", "");
    write_text(corpus.folder / "novel.json", "{\"model\": {\"type\": \"Novelty\", \"vocab\": {}}}");
    write_text(corpus.folder / "no_model.json", "{\"version\": \"1.0\"}");
    write_text(corpus.folder / "settings.json", "{\"about\": \"a run\", \"model\": {\"hidden_size\": 64}}");
    REQUIRE(run_command(corpus.shard(path("corpus.txt"), "shards")).exit_code == 0);
    const std::string shard = " shard " + path("corpus.txt") + " --output " + path("out") + " --vocabulary ";
    const std::string tokenize = " tokenize " + path("corpus.txt") + " --vocabulary ";
    const BadInput cases[] = {
        {shard + path("absent.txt"), 3, "absent.txt: does not exist"},
        {shard + path("empty.txt"), 3, "empty.txt: is empty, expected a vocabulary with one token per line"},
        {shard + path("no_mask.txt"), 3, "no_mask.txt: the token [MASK] is missing among 5"},
        {shard + path("twice.txt"), 3, "twice.txt: lines 6 and 8 contain the same token \"the\""},
        {shard + path("gap.txt"), 3, "gap.txt: line 7 is empty"},
        {shard + path("vocab.txt") + " --cased", 2, "vocab.txt: is an uncased vocabulary"},
        {shard + path("novel.json"), 3, "novel.json"},
        {tokenize + path("novel.json"), 3, "novel.json: model: has the type Novelty"},
        {tokenize + path("no_model.json"), 3, "no_model.json: has no member \"model\""},
        {tokenize + path("settings.json"), 3, "settings.json: is no tokenizer.json of Hugging Face's tokenizers"},
        {" check " + path("shards") + " --vocabulary " + path("small.txt"), 3, "small.txt: is another vocabulary"},
        {" check " + path("nothing"), 3, "nothing: does not exist"},
    };
    for (const BadInput& bad : cases) {
        const auto result = run_command(data_program + bad.input);
        CAPTURE(bad.input, result.err);
        CHECK(result.exit_code == bad.exit_code);
        CHECK_THAT(result.err, Contains(bad.message));
        CHECK_FALSE(std::filesystem::exists(path("out")));
    }
}
