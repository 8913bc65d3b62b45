// What `shard` says of a split that is not what its options suggest.
#include "support/catch.h"
#include "support/command.h"
#include "support/contains.h"
#include "support/files.h"

using bertpretrain::testing::contains;
using namespace bertpretrain::testing;

TEST_CASE("shard warns where the held-out articles are another share of the text than of the articles") {
    const TemporaryFolder folder;
    const auto path = [&](const char* name) { return (folder / name).string(); };
    write_text(folder / "vocabulary.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\non\na\nmat\n.\nit\nslept\n##a\n");
    const auto shard = [&](std::size_t sentences_of_first) {
        std::string text;
        for (std::size_t line = 0; line < sentences_of_first; ++line) text += "the cat sat on a mat .\n";
        for (std::size_t article = 1; article < 8; ++article) text += "\nit slept on " + std::string(article, 'a') + " .\n";
        write_text(folder / "text.txt", text);
        return run_command(std::string(PROGRAM_FOLDER "/bertpretrain_data shard ") + path("text.txt") + " --vocabulary " +
                           path("vocabulary.txt") + " --output " + path("out") +
                           " --objective mlm --held-out-fraction 0.25 --held-out-shards 1 --shards 1 --overwrite");
    };
    const auto even = shard(1), uneven = shard(400);
    INFO(even.err << uneven.err);
    CHECK(even.exit_code == 0);
    CHECK_FALSE(contains(even.err, "% of the tokens"));
    CHECK(uneven.exit_code == 0);
    CHECK(contains(uneven.err, "% of the tokens: --held-out-fraction 0.25 counts articles"));
}
