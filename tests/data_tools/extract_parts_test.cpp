// `extract --part` and `join`: several processes make the text that one would make.

#include <map>
#include <vector>

#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"
#include "support/process.h"
#include "text/reader/extract_part.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

namespace fs = std::filesystem;

const std::string program = PROGRAM_FOLDER "/bertpretrain_data";

std::string sentences(int seed, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "Our Prof. Heron " + std::to_string(seed * 31 + i * 7) + " stands in the pond. ";
    return text;
}

std::string dump_of(int first, int articles) {
    std::string xml = "<mediawiki>\n";
    for (int i = first; i < first + articles; ++i)
        xml += "<page><title>T" + std::to_string(i) + "</title><ns>0</ns><revision><text>" + sentences(i, 9) +
               "</text></revision></page>\n";
    return xml + "</mediawiki>\n";
}

std::string records_of(int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) text += R"({"text": ")" + sentences(i, 5) + "\"}\n";
    return text;
}

std::map<std::string, std::string> content(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& file : fs::directory_iterator(folder)) files[file.path().filename().string()] = read_text(file.path());
    return files;
}

/// A folder of input files, and the commands for it.
class Corpus {
public:
    Corpus() { fs::create_directory(folder / "in"); }

    /// Files of several formats and sizes. The sample, which takes every other file, has no JSONL, so the first such file decides
    /// what a line of JSONL is. The second one alone would decide otherwise. Punkt learns from the others
    /// that "Prof." in the last file is an abbreviation.
    void add_files() const {
        for (int i = 10; i < 28; ++i) write_text(folder / ("in/" + std::to_string(i) + ".xml"), dump_of(i * 100, 3 + i % 5));
        std::string lines;
        for (int i = 0; i < 30; ++i) lines += "{\"text\": \"One line " + std::to_string(i) + ".\\nAnother line.\"}\n";
        write_text(folder / "in/11.jsonl", records_of(0, 40));
        write_text(folder / "in/26.jsonl", lines + records_of(100, 1));
        write_text(folder / "in/30.txt", sentences(1, 20) + "\n\n" + sentences(2, 10) + "\n");
        write_text(folder / "in/31.txt", "");
        std::string water = "We saw Prof. Heron there. ";
        for (int i = 0; i < 280; ++i) water += "The water " + std::to_string(i) + " is cold today. ";
        write_text(folder / "in/32.txt", water + "\n");
    }
    CommandResult extract(const std::string& output, const std::string& options = "") const {
        return run_command(command(output, options));
    }
    std::string command(const std::string& output, const std::string& options) const {
        return program + " extract " + path("in") + " --output " + path(output) + " --threads 1 " + options;
    }
    void require_parts(const std::string& output, const std::vector<std::string>& parts, const std::string& options = "") const {
        for (const std::string& part : parts) {
            const CommandResult made = extract(output, options + " --part " + part);
            INFO(part << made.err);
            REQUIRE(made.exit_code == 0);
        }
    }
    CommandResult join(const std::string& output) const { return run_command(program + " join " + path(output)); }
    std::string path(const std::string& name) const { return (folder / name).string(); }

    TemporaryFolder folder;
};

/// A corpus of three files of equal size.
class SmallCorpus : public Corpus {
public:
    SmallCorpus() {
        for (const int i : {1, 2, 3}) write_text(folder / ("in/" + std::to_string(i) + ".jsonl"), records_of(100 + 100 * i, 20));
    }
};

}  // namespace

TEST_CASE("parts of a corpus are consecutive files that cover it, of about equally many bytes") {
    const std::vector<std::uint64_t> bytes = {0, 7, 1, 1, 0, 30, 2, 2, 9, 0, 8};
    for (std::int64_t count = 1; count <= 11; ++count) {
        std::size_t next = 0;
        for (std::int64_t number = 1; number <= count; ++number) {
            const auto [first, end] = files_of_part(bytes, {number, count});
            CHECK(first == next);
            CHECK(first <= end);
            next = end;
        }
        CHECK(next == bytes.size());
    }
    const std::vector<std::uint64_t> equal(6, 1'000);
    for (const std::int64_t number : {1, 2, 3}) {
        const auto [first, end] = files_of_part(equal, {number, 3});
        CHECK(end - first == 2);
    }
}

TEST_CASE("the parts of a text, made in any order or at once, join to the files that one process makes") {
    const Corpus corpus;
    corpus.add_files();
    const std::string options = GENERATE("", "--sentences punkt", "--lines paragraphs --minimum-sentences 6");
    CAPTURE(options);
    REQUIRE(corpus.extract("whole/text.txt", options).exit_code == 0);
    corpus.require_parts("parts/text.txt", {"3/3", "1/3", "2/3"}, options);
    corpus.require_parts("many/text.txt", {"7/9", "8/9", "9/9", "1/9", "2/9", "3/9", "4/9", "5/9", "6/9"}, options);
    CHECK_FALSE(fs::exists(corpus.folder / "parts/text.txt"));
    const std::string command = corpus.command("at_once/text.txt", options);
    REQUIRE(run_command("bash -c '" + command + " --part 1/2 & " + command + " --part 2/2; code=$?; wait $! && exit $code'")
                .exit_code == 0);
    for (const std::string& output : {std::string("parts"), std::string("many"), std::string("at_once")}) {
        const CommandResult joined = corpus.join(output + "/text.txt");
        INFO(output << joined.err);
        REQUIRE(joined.exit_code == 0);
        CHECK(content(corpus.folder / output) == content(corpus.folder / "whole"));
        CHECK(corpus.join(output + "/text.txt").exit_code == 0);
        CHECK(content(corpus.folder / output) == content(corpus.folder / "whole"));
    }
}

TEST_CASE("parts of a text that were made on several hosts join once all their files are in one folder") {
    const SmallCorpus corpus;
    REQUIRE(corpus.extract("whole/text.txt").exit_code == 0);
    corpus.require_parts("one/text.txt", {"1/2"});
    corpus.require_parts("two/text.txt", {"2/2"});
    const CommandResult half = corpus.join("one/text.txt");
    CHECK(half.exit_code == 3);
    CHECK(contains(half.err, "1 of 2 parts are complete; missing: 2/2"));
    CHECK_FALSE(fs::exists(corpus.folder / "one/text.txt"));
    for (const auto& file : fs::directory_iterator(corpus.folder / "two"))
        fs::copy(file.path(), corpus.folder / "one" / file.path().filename());
    const CommandResult joined = run_command(program + " join --json " + corpus.path("one/text.txt"));
    CHECK(joined.exit_code == 0);
    CHECK(contains(joined.out, "\"documents_kept\":60,"));
    CHECK(content(corpus.folder / "one") == content(corpus.folder / "whole"));
}

TEST_CASE("a part that was killed is missing until it is made again, and what was finished is not read again") {
    const Corpus corpus;
    write_text(corpus.folder / "in/1.xml", dump_of(0, 10));
    write_text(corpus.folder / "in/2.xml", dump_of(10, 60'000));
    REQUIRE(corpus.extract("whole/text.txt").exit_code == 0);
    corpus.require_parts("out/text.txt", {"1/2"});
    const fs::path first = corpus.folder / "out/text.txt.part_1_of_2", second = corpus.folder / "out/text.txt.part_2_of_2";
    for (int tries = 0; !fs::exists(second.string() + ".partial"); ++tries) {  // a fast machine may finish before the signal
        REQUIRE(tries < 20);
        for (const char* end : {"", ".json"}) fs::remove(second.string() + end);
        Process process(corpus.command("out/text.txt", "--part 2/2"));
        wait_until(process, [&] { return fs::exists(second.string() + ".partial"); });
        process.send(SIGKILL);
        process.wait();
    }
    CHECK_FALSE(fs::exists(second));
    const CommandResult early = corpus.join("out/text.txt");
    CHECK(early.exit_code == 3);
    CHECK(contains(early.err, "1 of 2 parts are complete; missing: 2/2"));
    const auto written = fs::last_write_time(first);
    const CommandResult again = corpus.extract("out/text.txt", "--part 1/2");
    CHECK(again.exit_code == 0);
    CHECK(contains(again.err, "text.txt.part_1_of_2: is complete already"));
    CHECK(fs::last_write_time(first) == written);
    corpus.require_parts("out/text.txt", {"2/2"});
    REQUIRE(corpus.join("out/text.txt").exit_code == 0);
    CHECK((content(corpus.folder / "out") == content(corpus.folder / "whole")));
}

TEST_CASE("a part that another process is making is refused, and so is a join while another one runs") {
    const SmallCorpus corpus;
    corpus.require_parts("out/text.txt", {"1/2", "2/2"});
    const auto before = content(corpus.folder / "out");
    const std::string held = "flock " + corpus.path("out/text.txt.part_1_of_2.json") + " ";
    const CommandResult refused = run_command(held + corpus.command("out/text.txt", "--part 1/2"));
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "text.txt.part_1_of_2: another process is making this part; wait for it"));
    const CommandResult joined = run_command(held + program + " join " + corpus.path("out/text.txt"));
    CHECK(joined.exit_code == 2);
    CHECK(contains(joined.err, "text.txt: another process is joining its parts"));
    const CommandResult second = run_command("flock " + corpus.path("out/text.txt.part_2_of_2.json") + " " + program + " join " +
                                             corpus.path("out/text.txt"));
    CHECK(second.exit_code == 2);
    CHECK(contains(second.err, "text.txt: another process is joining its parts, or making part 2/2"));
    CHECK(content(corpus.folder / "out") == before);
}

TEST_CASE("a part that is made again with other settings replaces the earlier one") {
    const SmallCorpus corpus;
    REQUIRE(corpus.extract("whole/text.txt", "--sentences none").exit_code == 0);
    corpus.require_parts("out/text.txt", {"1/2"});
    corpus.require_parts("out/text.txt", {"1/2", "2/2"}, "--sentences none");
    REQUIRE(corpus.join("out/text.txt").exit_code == 0);
    CHECK(content(corpus.folder / "out") == content(corpus.folder / "whole"));
}

TEST_CASE("a join that was killed after its text was complete is finished by the next one") {
    const SmallCorpus corpus;
    corpus.require_parts("out/text.txt", {"1/2", "2/2"});
    const std::string record = read_text(corpus.folder / "out/text.txt.part_1_of_2.json");
    REQUIRE(corpus.join("out/text.txt").exit_code == 0);
    const auto joined = content(corpus.folder / "out");
    write_text(corpus.folder / "out/text.txt.part_1_of_2.json", record);
    CHECK(corpus.join("out/text.txt").exit_code == 0);
    CHECK(content(corpus.folder / "out") == joined);
}

TEST_CASE("parts beside another text are not removed, and join says so") {
    const Corpus corpus;
    corpus.add_files();
    REQUIRE(corpus.extract("out/text.txt").exit_code == 0);
    write_text(corpus.folder / "in/30.txt", "Another sentence is here.\n");
    corpus.require_parts("elsewhere/text.txt", {"1/2", "2/2"});
    for (const auto& file : fs::directory_iterator(corpus.folder / "elsewhere"))
        fs::copy_file(file.path(), corpus.folder / "out" / file.path().filename());
    const auto before = content(corpus.folder / "out");
    const CommandResult refused = corpus.join("out/text.txt");
    CHECK(refused.exit_code == 3);
    CHECK(contains(refused.err, "exists already, and is not the text of the parts beside it"));
    CHECK((content(corpus.folder / "out") == before));
    fs::remove(corpus.folder / "out/text.txt");
    CHECK(corpus.join("out/text.txt").exit_code == 0);
    CHECK(contains(read_text(corpus.folder / "out/text.txt"), "Another sentence is here."));
}

TEST_CASE("a folder with parts that are not joined is no input") {
    const SmallCorpus corpus;
    corpus.require_parts("out/text.txt", {"1/2", "2/2"});
    const std::string message = "belongs to a part of " + corpus.path("out/text.txt") + ", whose parts have not been joined";
    for (const std::string& inputs : {corpus.path("out"), corpus.path("out") + "/*"}) {
        const CommandResult refused = run_command(program + " vocabulary " + inputs + " --size 300 --output " + corpus.path("v"));
        CHECK(refused.exit_code == 3);
        CHECK(contains(refused.err, message));
    }
    const CommandResult whole = corpus.extract("out/text.txt");
    CHECK(whole.exit_code == 2);
    CHECK(contains(whole.err, message));
    REQUIRE(corpus.join("out/text.txt").exit_code == 0);
    CHECK(run_command(program + " vocabulary " + corpus.path("out") + " --size 300 --output " + corpus.path("v")).exit_code == 0);
    write_text(corpus.folder / "in/notes.part_1_of_2.json", R"({"text": "A user's file may have such a name."})");
    CHECK(corpus.extract("text.txt").exit_code == 0);
}

TEST_CASE("parts of other settings, other inputs or another number of parts are refused, and say what differs") {
    const SmallCorpus corpus;
    corpus.require_parts("out/text.txt", {"1/2"});
    const auto refusal = [&](const std::string& options) {
        const CommandResult refused = corpus.extract("out/text.txt", options);
        CHECK(refused.exit_code == 2);
        return refused.err;
    };
    CHECK(contains(refusal("--part 2/2 --minimum-sentences 4"), "--minimum-sentences is 4, expected 1 as in"));
    CHECK(contains(refusal("--part 2/2 --id-field n"), "--id-field is n, expected \"\" as in"));
    CHECK(contains(refusal("--part 2/3"), "text.txt.part_1_of_2.json: is part 1/2, but this is part 2/3"));
    write_text(corpus.folder / "in/4.jsonl", records_of(900, 1));
    CHECK(contains(refusal("--part 2/2"), "INPUT is 4 files of"));
    fs::remove(corpus.folder / "in/4.jsonl");
    CHECK(content(corpus.folder / "out").size() == 2);

    corpus.require_parts("elsewhere/text.txt", {"2/2"}, "--lines wrapped");
    corpus.require_parts("elsewhere/text.txt.2", {"3/3"});
    for (const char* name : {"text.txt.part_2_of_2", "text.txt.part_2_of_2.json"})
        fs::copy(corpus.folder / "elsewhere" / name, corpus.folder / "out" / name);
    const CommandResult mixed = corpus.join("out/text.txt");
    CHECK(mixed.exit_code == 3);
    CHECK(contains(mixed.err, "text.txt.part_2_of_2.json: --lines is wrapped, expected auto as in part 1/2"));
    fs::copy(corpus.folder / "elsewhere/text.txt.2.part_3_of_3.json", corpus.folder / "out/text.txt.part_3_of_3.json");
    const CommandResult of_two = corpus.join("out/text.txt");
    CHECK(of_two.exit_code == 3);
    CHECK(contains(of_two.err, "has parts of two texts, text.txt.part_1_of_2.json and text.txt.part_3_of_3.json"));
    CHECK_FALSE(fs::exists(corpus.folder / "out/text.txt"));
}

TEST_CASE("a part that was changed, renamed or lost is not joined until it is made again") {
    const SmallCorpus corpus;
    corpus.require_parts("out/text.txt", {"1/2", "2/2"});
    const fs::path second = corpus.folder / "out/text.txt.part_2_of_2";
    std::string bytes = read_text(second);
    bytes.front() = 'X';
    write_text(second, bytes);
    const CommandResult changed = corpus.join("out/text.txt");
    CHECK(changed.exit_code == 3);
    CHECK(contains(changed.err, "text.txt.part_2_of_2: is not the text that its part wrote"));
    CHECK_FALSE(fs::exists(corpus.folder / "out/text.txt"));
    CHECK_FALSE(fs::exists(corpus.folder / "out/text.txt.partial"));
    fs::remove(second);
    CHECK(contains(corpus.join("out/text.txt").err, "text.txt.part_2_of_2: is missing"));
    corpus.require_parts("out/text.txt", {"2/2"});
    const std::string record = read_text(second.string() + ".json");
    fs::copy_file(corpus.folder / "out/text.txt.part_1_of_2.json", second.string() + ".json",
                  fs::copy_options::overwrite_existing);
    CHECK(contains(corpus.join("out/text.txt").err, "missing: 2/2"));
    write_text(second.string() + ".json", record.substr(0, record.size() / 2));
    CHECK(contains(corpus.join("out/text.txt").err, "missing: 2/2"));
    corpus.require_parts("out/text.txt", {"2/2"});
    CHECK(corpus.join("out/text.txt").exit_code == 0);
}

TEST_CASE("malformed records and missing documents are judged over all parts") {
    const SmallCorpus corpus;
    write_text(corpus.folder / "in/2.jsonl", records_of(0, 10) + "{\"text\": null}\n" + records_of(20, 9));
    REQUIRE(corpus.extract("whole/text.txt", "--max-bad 0.02").exit_code == 0);
    corpus.require_parts("parts/text.txt", {"1/3", "2/3", "3/3"}, "--max-bad 0.02");
    REQUIRE(corpus.join("parts/text.txt").exit_code == 0);
    CHECK(content(corpus.folder / "parts") == content(corpus.folder / "whole"));

    CHECK(corpus.extract("whole.txt").exit_code == 3);
    corpus.require_parts("text.txt", {"1/3", "2/3", "3/3"});
    const CommandResult refused = corpus.join("text.txt");
    CHECK(refused.exit_code == 3);
    CHECK(contains(refused.err, "1 of 60 records are malformed (1.67 %), more than --max-bad allows"));
    CHECK_FALSE(fs::exists(corpus.folder / "text.txt"));

    corpus.require_parts("none.txt", {"1/3", "2/3", "3/3"}, "--max-bad 0.02 --minimum-sentences 100");
    const CommandResult none = corpus.join("none.txt");
    CHECK(none.exit_code == 3);
    CHECK(contains(none.err, "no document found in 59 pages or records: 59 with fewer than 100 sentences"));
}

TEST_CASE("a request for parts of a text that cannot be met is refused before anything is written") {
    const SmallCorpus corpus;
    for (const char* part : {"0/2", "3/2", "2", "a/b", "1/20000"}) {
        const CommandResult refused = corpus.extract("out/text.txt", std::string("--part ") + part);
        CHECK(refused.exit_code == 2);
        CHECK(contains(refused.err, "expected I/N"));
    }
    const CommandResult too_many = corpus.extract("out/text.txt", "--part 1/4");
    CHECK(too_many.exit_code == 2);
    CHECK(contains(too_many.err, "the inputs are 3 files, expected at least as many as parts, because a file is not divided"));
    const CommandResult pipe = corpus.extract("out/text.txt", "- --part 1/2 < /dev/null");
    CHECK(pipe.exit_code == 2);
    CHECK(contains(pipe.err, "standard input can be read by one process only"));
    CHECK_FALSE(fs::exists(corpus.folder / "out"));
    const CommandResult none = corpus.join("out/text.txt");
    CHECK(none.exit_code == 2);
    CHECK(contains(none.err, "has no parts, text.txt.part_I_of_N.json"));
    REQUIRE(corpus.extract("out/text.txt").exit_code == 0);
    const CommandResult exists = corpus.extract("out/text.txt", "--part 1/2");
    CHECK(exists.exit_code == 2);
    CHECK(contains(exists.err, "text.txt: exists already, and --part 1/2 replaces nothing"));
}
