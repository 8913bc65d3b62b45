// The scripts with which the quickstart shows what its model learned.
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain::testing;

namespace {

const std::string sample_sentences = PYTHON " scripts/sample_sentences.py ";

}  // namespace

TEST_CASE("the middle word of a short line is masked, and the middle character of a line without spaces") {
    const TemporaryFolder folder;
    write_text(folder / "words.txt", "Title\nThe Moon goes around the Earth each month.\nToo short.\n");
    CHECK(run_command(sample_sentences + (folder / "words.txt").string() + " --masked").out ==
          "The Moon goes around [MASK] Earth each month.\n");
    write_text(folder / "characters.txt", "北京是中国的首都。\n短\n");
    CHECK(run_command(sample_sentences + (folder / "characters.txt").string() + " --masked").out == "北京是中[MASK]的首都。\n");
    write_text(folder / "none.txt", "Too short.\n");
    CHECK(run_command(sample_sentences + (folder / "none.txt").string() + " --masked").out.empty());
}

TEST_CASE("a short line is sampled once, however often the text has it") {
    const TemporaryFolder folder;
    const std::string line = "The Moon goes around the Earth each month.\n";
    write_text(folder / "text.txt", line + "Too short.\n" + line);
    CHECK(run_command(sample_sentences + (folder / "text.txt").string()).out == line);
}
