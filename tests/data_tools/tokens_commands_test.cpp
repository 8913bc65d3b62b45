// The subcommands `vocabulary` and `tokenize` as a user runs them.

#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"

using bertpretrain::testing::contains;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;

namespace {

const std::string program = PROGRAM_FOLDER "/bertpretrain_data";
const std::string five = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";

}  // namespace

TEST_CASE("tokenize prints a line of ids per line, also for empty lines, from a file or standard input") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.txt", five + "a\nb\n##b\n");
    write_text(folder / "text", "A ab\n\nx [MASK]");
    const std::string command = program + " tokenize --vocabulary " + (folder / "vocab.txt").string();
    const auto from_file = run_command(command + " " + (folder / "text").string());
    CHECK(from_file.exit_code == 0);
    CHECK(from_file.out == "5 5 7\n\n1 4\n");
    CHECK(run_command(command + " < " + (folder / "text").string()).out == from_file.out);
    CHECK(run_command(command + " < /dev/null").out.empty());
}

TEST_CASE("tokenize reads lines as other text: any line ends, no byte order mark, and no byte that is not UTF-8") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.txt", five + "a\nb\n##b\n");
    const std::string command = program + " tokenize --vocabulary " + (folder / "vocab.txt").string() + " ",
                      text = (folder / "text").string();
    write_text(text,
               "\xEF\xBB\xBF"
               "a\r\rb\r\na");
    for (const std::string& input : {text, "- < " + text, "< " + text}) CHECK(run_command(command + input).out == "5\n\n6\n5\n");
    write_text(text,
               "a\xFF"
               "b\n");
    CHECK(contains(run_command(command + text).err, "byte 1 is not UTF-8 (0xFF)"));
    write_text(text, "\x1F\x8B\x08 and more");
    CHECK(contains(run_command(command + text).err, "text: is compressed with gzip, expected uncompressed text"));
}

TEST_CASE("tokenize reads text as the vocabulary is cased, and refuses --cased for an uncased one") {
    const TemporaryFolder folder;
    write_text(folder / "text", "The caf\u00E9\n");
    write_text(folder / "cased.txt", five + "The\nthe\ncaf\u00E9\ncafe\n");
    write_text(folder / "uncased.txt", five + "the\ncafe\n");
    const auto ids = [&](const std::string& vocabulary, const std::string& options = "") {
        return run_command(program + " tokenize --vocabulary " + (folder / vocabulary).string() + options + " " +
                           (folder / "text").string());
    };
    CHECK(ids("cased.txt").out == "5 7\n");
    CHECK(ids("cased.txt", " --cased").out == "5 7\n");
    CHECK(ids("uncased.txt").out == "5 6\n");
    const auto refused = ids("uncased.txt", " --cased");
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "uncased.txt: is an uncased vocabulary: 0 of its 2 tokens"));
    CHECK(contains(refused.err, "do: omit --cased"));
}

TEST_CASE("tokenize keeps the order of lines for any number of threads") {
    const TemporaryFolder folder;
    write_text(folder / "vocab.txt", five + "a\nb\n");
    std::string text, expected;
    for (int i = 0; i < 700'000; ++i) {
        text += i % 7 == 0 ? "a b a\n" : i % 3 == 0 ? "\n" : "b\n";
        expected += i % 7 == 0 ? "5 6 5\n" : i % 3 == 0 ? "\n" : "6\n";
    }
    write_text(folder / "text", text);
    const std::string command = program + " tokenize --vocabulary " + (folder / "vocab.txt").string() + " --threads ";
    for (const std::string threads : {"1", "3"})
        CHECK((run_command(command + threads + " " + (folder / "text").string()).out == expected));
}

TEST_CASE("vocabulary writes a file that tokenize reads, and writes the same one again") {
    const TemporaryFolder folder;
    write_text(folder / "text", "low low low lower\nnew newer newest\n");
    const std::string command = program + " vocabulary " + (folder / "text").string() + " --size 40 --output ";
    for (const std::string name : {"one/vocab.txt", "two.txt"})
        CHECK(run_command(command + (folder / name).string()).exit_code == 0);
    CHECK(read_text(folder / "one/vocab.txt").starts_with(five));
    CHECK(read_text(folder / "one/vocab.txt") == read_text(folder / "two.txt"));
    const auto ids = run_command("echo low | " + program + " tokenize --vocabulary " + (folder / "two.txt").string());
    CHECK(ids.exit_code == 0);
    CHECK(ids.out.find(' ') == std::string::npos);
    CHECK(ids.out != "1\n");
}

TEST_CASE("the page's command cuts each record of a FASTA file into k-mers, and none crosses the border of two records") {
    const TemporaryFolder folder;
    const std::string page = read_text(PROJECT_FOLDER "/data_tools/OWN_TEXT.md"), block = "```sh needs: a FASTA file genome.fa\n";
    const std::size_t begin = page.find(block) + block.size(), end = page.find("bertpretrain_data shard own/6mers.txt", begin);
    REQUIRE(end != std::string::npos);
    std::filesystem::create_directory(folder / "own");
    write_text(folder / "genome.fa", ">one\nACGTAC\nGTA\n>two\nttttggg\n>short\nACG\n");
    write_text(folder / "command.sh", page.substr(begin, end - begin));
    REQUIRE(run_command("cd " + folder.path().string() + " && sh command.sh").exit_code == 0);
    CHECK(read_text(folder / "own/6mers.txt") == "ACGTAC CGTACG GTACGT TACGTA \nTTTTGG TTTGGG \n");
}

TEST_CASE("vocabulary --extend adds the tokens of a file, names those it has, and says what a text gains") {
    const TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder / name).string(); };
    write_text(folder / "vocab.txt", five + "heart\n##io\ncard\na\n");
    write_text(folder / "text", "cardio heart cardio b");
    write_text(folder / "tokens", "cardio\nheart\n##ology\ncardio\nb\n");
    const std::string extend = program + " vocabulary --extend " + path("vocab.txt") + " --output " + path("new.txt") +
                               " --tokens " + path("tokens") + " ";
    const auto extended = run_command(extend + path("text"));
    CHECK(extended.exit_code == 0);
    CHECK(read_text(folder / "new.txt") == read_text(folder / "vocab.txt") + "cardio\n##ology\nb\n");
    CHECK_THAT(extended.err, Contains("2 of its tokens are in the vocabulary already, or occur twice: heart, cardio"));
    CHECK_THAT(extended.err,
               Contains("added words of the text: 1, pieces of words: 1, characters: 1; tokens per word: 1.500 before, "
                        "1.000 after; unknown words: 25.00 % before, 0.00 % after"));
    CHECK_THAT(extended.err, Contains("1 of the 3 added tokens do not occur in the text"));
    CHECK(run_command(extend).exit_code == 0);  // without a text
    const auto both = run_command(extend + path("text") + " --add 3");
    CHECK(both.exit_code == 2);
    CHECK_THAT(both.err,
               Contains("--add 3 and --tokens") && Contains("were given together") && Contains("run the command twice"));
    const std::string alone = program + " vocabulary " + path("text") + " --output " + path("none.txt");
    CHECK_THAT(run_command(alone + " --add 3").err, Contains("--add: extends a vocabulary") && Contains("--extend FILE"));
    CHECK_THAT(run_command(alone).err, Contains("--size: is missing") && Contains("do: pass --size N"));
    CHECK_THAT(run_command(alone + " --extend " + path("vocab.txt")).err, Contains("which tokens to add was not said"));
    CHECK_THAT(run_command(alone + " --extend " + path("vocab.txt") + " --size 9").err, Contains("leave one out"));
    for (const char* wrong : {"two words\n", "Cardio\n", "##Io\n", "a-b\n"}) {
        write_text(folder / "tokens", std::string("good\n") + wrong);
        const auto refused = run_command(extend);
        CAPTURE(wrong, refused.err);
        CHECK(refused.exit_code == 3);
        CHECK_THAT(refused.err, Contains("tokens:2: \""));
    }
    write_text(folder / "tokens", "heart\n");
    CHECK_THAT(run_command(extend).err, Contains("has no token that the vocabulary lacks"));
}

TEST_CASE("vocabulary and tokenize report bad requests and end with the documented exit code") {
    const TemporaryFolder folder;
    write_text(folder / "text", "some words");
    write_text(folder / "blank", " \n\n");
    const std::string text = (folder / "text").string(), blank = (folder / "blank").string();
    const std::string output = " --output " + (folder / "vocab.txt").string();
    CHECK(run_command(program + " vocabulary " + text + output + " --size 6").exit_code == 2);
    CHECK(run_command(program + " vocabulary " + text + output + " --size 0").exit_code == 2);
    CHECK(run_command(program + " vocabulary " + text + output).exit_code == 2);
    const auto no_number = run_command(program + " vocabulary " + text + output + " --size abc");
    CHECK(no_number.exit_code == 2);
    CHECK(no_number.err.starts_with("--size: Value abc not in range 1 to 1000000000\n"));
    CHECK(run_command(program + " vocabulary " + blank + output + " --size 100").exit_code == 3);
    CHECK(run_command(program + " vocabulary " + text + "_absent" + output + " --size 100").exit_code == 3);
    CHECK(run_command(program + " tokenize --vocabulary " + text + " " + text).exit_code == 3);
    CHECK(run_command(program + " tokenize " + text).exit_code == 2);
    write_text(folder / "vocab.txt", five);
    CHECK(run_command(program + " tokenize --vocabulary " + (folder / "vocab.txt").string() + " " + text + "_absent").exit_code ==
          3);
    CHECK(run_command(program + " tokenize --vocabulary " + (folder / "vocab.txt").string() + " " + folder.path().string())
              .exit_code == 3);
}

TEST_CASE("a tokenizer's file that is missing or one half of a BPE, and a shortened option, are answered with what to do") {
    const TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder / name).string(); };
    write_text(folder / "text", "some words");
    write_text(folder / "vocab.json", "{\"a\": 0, \"b\": 1}");
    write_text(folder / "merges.txt", "#version: 0.2\na b\n");
    const auto tokenize = [&](const std::string& options) {
        return run_command(program + " tokenize " + path("text") + " " + options);
    };
    for (const char* half : {"vocab.json", "merges.txt"}) {
        const auto refused = tokenize("--vocabulary " + path(half));
        CHECK(refused.exit_code == 3);
        CHECK_THAT(refused.err, Contains(std::string(half) + ": is one half of a BPE") && Contains("do: write a tokenizer.json"));
    }
    CHECK_THAT(tokenize("--vocabulary " + path("absent")).err, Contains("absent: does not exist, expected a vocabulary"));
    const auto shortened = tokenize("--vocab " + path("vocab.json"));
    CHECK(shortened.exit_code == 2);
    CHECK_THAT(shortened.err, Contains("did you mean --vocabulary?"));
}
