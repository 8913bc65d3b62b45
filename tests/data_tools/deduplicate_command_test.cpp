// `deduplicate` as a user runs it.

#include <algorithm>

#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"

using namespace bertpretrain::testing;

namespace {

const std::string deduplicate = PROGRAM_FOLDER "/bertpretrain_data deduplicate ";

/// A corpus of 3,000 documents, of which each third is a copy, or a copy with one other word.
std::string repeated_corpus() {
    std::string text;
    for (unsigned i = 0; i < 3000; ++i) {
        const unsigned same = i % 3 == 0 && i > 0 ? i - 1 : i;
        for (unsigned word = 0; word < 100; ++word)
            text += "word" + std::to_string(same * 100 + word) + (word % 10 == 9 ? ".\n" : " ");
        text += i % 6 == 0 ? "And more.\n\n" : "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("deduplicate writes text that vocabulary and shard read, the same from a file, a packed one and standard input") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", repeated_corpus());
    const std::string a = (folder / "a.txt").string(), out = (folder / "out").string();
    const CommandResult result = run_command(deduplicate + a + " --output " + out + " --threads 2 --sentence-limit 50");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.out == read_text(folder / "out/report.txt"));
    CHECK(result.out.find("near-duplicates") != std::string::npos);
    const std::string removed = read_text(folder / "out/duplicates.tsv");
    CHECK(std::count(removed.begin(), removed.end(), '\n') == 1000);  // and the heading
    CHECK(removed.find("\tequal\t" + a + ":") != std::string::npos);
    CHECK(removed.find("\tnear\t" + a + ":") != std::string::npos);

    const std::string packed =
        "gzip -c " + a + " > " + a + ".gz && " + deduplicate + a + ".gz --sentence-limit 50 --output " + out + "2";
    REQUIRE(run_command(packed).exit_code == 0);
    REQUIRE(
        run_command(deduplicate + "- --sentence-limit 50 --memory 64MiB --threads 1 --output " + out + "3 < " + a).exit_code ==
        0);
    CHECK(read_text(folder / "out2/text.txt") == read_text(folder / "out/text.txt"));
    CHECK(read_text(folder / "out3/text.txt") == read_text(folder / "out/text.txt"));

    const std::string program = PROGRAM_FOLDER "/bertpretrain_data ", text = out + "/text.txt", vocabulary = out + "/vocab.txt";
    CHECK(run_command(program + "vocabulary " + text + " --size 500 --output " + vocabulary).exit_code == 0);
    CHECK(run_command(program + "shard " + text + " --vocabulary " + vocabulary + " --output " + out + "/shards --shards 1")
              .exit_code == 0);
}

TEST_CASE("deduplicate refuses bad inputs and settings with one message, and writes no file") {
    const TemporaryFolder folder;
    const std::string out = (folder / "out").string();
    write_text(folder / "latin.txt", "K\xE4se.\n");
    write_text(folder / "blank.txt", "\n\n");
    const auto refusal = [&](const std::string& options, int exit_code) {
        const CommandResult result = run_command(deduplicate + options + " --output " + out);
        INFO(options << ": " << result.err);
        CHECK(result.exit_code == exit_code);
        CHECK(result.out.empty());
        CHECK((!std::filesystem::exists(out) || std::filesystem::is_empty(out)));
        return result.err;
    };
    CHECK(refusal((folder / "latin.txt").string(), 3).find("byte 1 is not UTF-8") != std::string::npos);
    CHECK(refusal((folder / "blank.txt").string(), 3).find("no document") != std::string::npos);
    CHECK(refusal((folder / "missing.txt").string(), 3).find("missing.txt") != std::string::npos);
    CHECK(refusal((folder / "blank.txt").string() + " --memory 1MiB", 2).find("--memory") != std::string::npos);
    CHECK(refusal((folder / "blank.txt").string() + " --memory much", 2).find("--memory") != std::string::npos);
    CHECK(refusal((folder / "blank.txt").string() + " --threshold 0.1", 2).find("--threshold") != std::string::npos);
    const std::string full = "ulimit -f 64; " + deduplicate + (folder / "a.txt").string() + " --output " + out;
    write_text(folder / "a.txt", repeated_corpus());
    CHECK(run_command(full).exit_code == 3);
    CHECK(std::filesystem::is_empty(out));
}
