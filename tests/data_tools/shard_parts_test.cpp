// `shard --part` and `join`: several processes make the folder that one would make.

#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

namespace fs = std::filesystem;

const std::string program = PROGRAM_FOLDER "/bertpretrain_data";

/// A text of 200 articles, and the commands for it.
class Corpus {
public:
    Corpus() {
        std::string text, vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
        for (int word = 0; word < 50; ++word) vocabulary += "w" + std::to_string(word) + "\n";
        std::uint32_t state = 1;
        for (int article = 0; article < 200; ++article, text += "\n")
            for (int sentence = 0; sentence < 6; ++sentence, text += ".\n")
                for (int word = 0; word < 9; ++word)
                    text += "w" + std::to_string((state = state * 1664525 + 1013904223) >> 16 & 63) + " ";
        write_text(folder / "text.txt", text);
        write_text(folder / "vocabulary.txt", vocabulary);
    }
    CommandResult shard(const std::string& output, const std::string& options = "") const {
        return run_command(program + " shard " + path("text.txt") + " --vocabulary " + path("vocabulary.txt") + " --output " +
                           path(output) + " --shards 3 --held-out-shards 2 --sequence-length 32 --threads 1 --max-unknown 1 " +
                           options);
    }
    CommandResult join(const std::string& output) const { return run_command(program + " join " + path(output)); }
    std::string path(const std::string& name) const { return (folder / name).string(); }

    TemporaryFolder folder;
};

std::map<std::string, std::string> content(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& file : fs::directory_iterator(folder)) files[file.path().filename().string()] = read_text(file.path());
    return files;
}

}  // namespace

TEST_CASE("the parts of a build, made in any order or at once, join to the folder that one process makes") {
    const Corpus corpus;
    const std::string options =
        GENERATE("", "--objective mlm --best-fit --group-mib 1", "--whole-word-masking --duplicate-factor 2");
    CAPTURE(options);
    REQUIRE(corpus.shard("whole", options).exit_code == 0);
    for (const char* part : {"3/3", "1/3", "2/3"}) {
        const CommandResult made = corpus.shard("parts", options + " --part " + part);
        INFO(made.err);
        REQUIRE(made.exit_code == 0);
    }
    const std::string command = program + " shard " + corpus.path("text.txt") + " --vocabulary " + corpus.path("vocabulary.txt") +
                                " --shards 3 --held-out-shards 2 --sequence-length 32 --threads 1 --max-unknown 1 " + options +
                                " --output " + corpus.path("at_once");
    REQUIRE(run_command("bash -c '" + command + " --part 1/2 & " + command + " --part 2/2; code=$?; wait $! && exit $code'")
                .exit_code == 0);
    for (const char* output : {"parts", "at_once"}) {
        const CommandResult joined = corpus.join(output);
        INFO(output << joined.err);
        REQUIRE(joined.exit_code == 0);
        CHECK(content(corpus.folder / output) == content(corpus.folder / "whole"));
        CHECK(corpus.join(output).exit_code == 0);
        CHECK(content(corpus.folder / output) == content(corpus.folder / "whole"));
    }
}

TEST_CASE("parts that were made on several hosts join once all their files are in one folder") {
    const Corpus corpus;
    REQUIRE(corpus.shard("whole").exit_code == 0);
    REQUIRE(corpus.shard("one", "--part 1/2").exit_code == 0);
    REQUIRE(corpus.shard("two", "--part 2/2").exit_code == 0);
    const CommandResult half = corpus.join("one");
    CHECK(half.exit_code == 3);
    CHECK(contains(half.err, "1 of 2 parts are complete; missing: 2/2"));
    const CommandResult checked = run_command(program + " check " + corpus.path("one"));
    CHECK(checked.exit_code == 3);
    CHECK(contains(checked.err, "make all parts, and then run `bertpretrain_data join`"));
    for (const auto& file : fs::directory_iterator(corpus.folder / "two"))
        fs::copy(file.path(), corpus.folder / "one" / file.path().filename(), fs::copy_options::overwrite_existing);
    REQUIRE(corpus.join("one").exit_code == 0);
    CHECK(content(corpus.folder / "one") == content(corpus.folder / "whole"));
}

TEST_CASE("a part that was killed between its last shard and its end is not joined until it has ended") {
    const Corpus corpus;
    REQUIRE(corpus.shard("whole").exit_code == 0);
    REQUIRE(corpus.shard("out", "--part 1/2").exit_code == 0);
    REQUIRE(corpus.shard("out", "--part 2/2").exit_code == 0);
    auto record = nlohmann::json::parse(read_text(corpus.folder / "out/made_1_of_2.json"));
    record["manifest"].erase("corpus");  // which only the end names
    write_text(corpus.folder / "out/made_1_of_2.json", record.dump());
    const CommandResult early = corpus.join("out");
    CHECK(early.exit_code == 3);
    CHECK(contains(early.err, "missing: 1/2"));
    REQUIRE(corpus.shard("out", "--part 1/2").exit_code == 0);
    REQUIRE(corpus.join("out").exit_code == 0);
    CHECK(content(corpus.folder / "out") == content(corpus.folder / "whole"));
}

TEST_CASE("parts of different text or settings, and shards that changed, are not joined") {
    const Corpus corpus;
    REQUIRE(corpus.shard("out", "--part 1/2").exit_code == 0);
    const CommandResult other = corpus.shard("out", "--part 2/2 --seed 7");
    CHECK(other.exit_code == 2);
    CHECK(contains(other.err, "made_2_of_2.json: differs from made_1_of_2.json: settings.seed is 7, expected 12345"));
    const CommandResult two = corpus.shard("out", "--part 2/2 --best-fit --objective mlm --duplicate-factor 7");
    CHECK(contains(two.err, "settings.best_fit is true, expected null; settings.duplicate_factor is 7, expected 5; "));
    write_text(corpus.folder / "text.txt", read_text(corpus.folder / "text.txt") + "w1 w2 .\n");
    CHECK(contains(corpus.shard("out", "--part 2/2").err,
                   "made_2_of_2.json: differs from made_1_of_2.json: the text is another one"));
    CHECK(corpus.shard("out", "--part 2/3").exit_code == 2);
    CHECK(corpus.shard("out").exit_code == 2);

    REQUIRE(corpus.shard("elsewhere", "--part 2/2 --seed 7").exit_code == 0);
    for (const auto& file : fs::directory_iterator(corpus.folder / "elsewhere"))
        fs::copy(file.path(), corpus.folder / "out" / file.path().filename(), fs::copy_options::overwrite_existing);
    const CommandResult mixed = corpus.join("out");
    CHECK(mixed.exit_code == 3);
    CHECK(contains(mixed.err, "made_2_of_2.json: differs from made_1_of_2.json: settings.seed is 7, expected 12345"));
    CHECK_FALSE(fs::exists(corpus.folder / "out/manifest.json"));

    REQUIRE(corpus.shard("changed", "--part 1/2").exit_code == 0);
    REQUIRE(corpus.shard("changed", "--part 2/2").exit_code == 0);
    const fs::path shard = corpus.folder / "changed/corpus_training_0001.h5";
    std::string bytes = read_text(shard);
    bytes.back() = static_cast<char>(bytes.back() + 1);
    write_text(shard, bytes);
    const CommandResult changed = corpus.join("changed");
    CHECK(changed.exit_code == 3);
    CHECK(contains(changed.err, "corpus_training_0001.h5: is not the file that its part made"));
    fs::remove(shard);
    CHECK(contains(corpus.join("changed").err, "corpus_training_0001.h5: is missing"));
    REQUIRE(corpus.shard("changed", "--part 2/2").exit_code == 0);
    CHECK(corpus.join("changed").exit_code == 0);
}

TEST_CASE("a request for parts that cannot be met is refused before anything is written") {
    const Corpus corpus;
    for (const char* part : {"0/2", "3/2", "2", "a/b", "1/", "/2", "1/2/3", "-1/2", "1/20000"}) {
        const CommandResult refused = corpus.shard("out", std::string("--part ") + part);
        CHECK(refused.exit_code == 2);
        CHECK(contains(refused.err, "expected I/N"));
    }
    const CommandResult too_many = corpus.shard("out", "--part 1/6");
    CHECK(too_many.exit_code == 2);
    CHECK(contains(too_many.err, "there are only 5 shards"));
    CHECK(corpus.shard("out", "--part 1/2 --overwrite").exit_code == 2);
    CHECK(corpus.shard("out", "--part 1/2 --compatible-with nvidia").exit_code == 2);
    CHECK(corpus.join("out").exit_code == 2);
    CHECK_FALSE(fs::exists(corpus.folder / "out"));
    REQUIRE(corpus.shard("whole").exit_code == 0);
    CHECK(corpus.shard("whole", "--part 1/2").exit_code == 2);
}

TEST_CASE("a vocabulary with other line ends than the copy in the folder is the same for each part") {
    const Corpus corpus;
    std::string windows;
    for (const char c : read_text(corpus.folder / "vocabulary.txt"))
        windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    windows.resize(windows.size() - 2);  // and no line end after the last token
    write_text(corpus.folder / "vocabulary.txt", windows);
    for (const char* part : {"1/2", "2/2"}) {
        const CommandResult made = corpus.shard("out", std::string("--part ") + part);
        INFO(made.err);
        CHECK(made.exit_code == 0);
    }
    write_text(corpus.folder / "vocabulary.txt", windows + "\r\nmore");
    const CommandResult other = corpus.shard("out", "--part 1/2");
    CHECK(other.exit_code == 2);
    CHECK(contains(other.err, "vocab.txt: is another vocabulary than "));
    CHECK(corpus.join("out").exit_code == 0);
}

TEST_CASE("shards are not joined while a process makes one of the parts") {
    const Corpus corpus;
    for (const char* part : {"1/2", "2/2"}) REQUIRE(corpus.shard("out", std::string("--part ") + part).exit_code == 0);
    const std::string held = corpus.path("out/building_2_of_2.json");
    const CommandResult refused = run_command("flock " + held + " " + program + " join " + corpus.path("out"));
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "building_2_of_2.json: another process is making shards there, or joining them"));
    CHECK_FALSE(fs::exists(corpus.folder / "out/manifest.json"));
    CHECK(corpus.join("out").exit_code == 0);
}
