// The scripts with which the quickstart shows what its model learned.
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain::testing;

namespace {

const std::string sample_sentences = PYTHON " scripts/sample_sentences.py ";

/// Writes an .npy file with NumPy. @param rows as a Python list  @returns false if NumPy is missing
bool write_vectors(const std::filesystem::path& file, const std::string& rows) {
    return run_command(PYTHON " -c 'import numpy; numpy.save(\"" + file.string() + "\", numpy.array(" + rows +
                       ", dtype=\"f4\"))'")
               .exit_code == 0;
}

}  // namespace

TEST_CASE("each sentence is printed with the sentence whose centred vector has the largest cosine, never with itself") {
    const TemporaryFolder folder;
    // U+2028 separates lines for Python's splitlines(), but not for `embed`.
    write_text(folder / "text.txt", "one\ntwo\xE2\x80\xA8here\nthree\nfour\n");
    if (!write_vectors(folder / "vectors.npy", "[[9, 1], [9, 0.9], [1, 9], [1, 8]]"))
        SKIP_TEST(skip::no_oracle, "no Python with NumPy");
    const CommandResult printed = run_command(PYTHON " scripts/nearest_sentences.py " + (folder / "text.txt").string() + " " +
                                              (folder / "vectors.npy").string() + " 2");
    INFO(printed.err);
    CHECK(printed.exit_code == 0);
    CHECK(printed.out == "one\n  1.000  two\xE2\x80\xA8here\nthree\n  0.991  four\n");
}

TEST_CASE("vectors of another number of sentences are refused with both numbers") {
    const TemporaryFolder folder;
    write_text(folder / "text.txt", "one\ntwo\nthree\n");
    if (!write_vectors(folder / "vectors.npy", "[[1, 0], [0, 1]]")) SKIP_TEST(skip::no_oracle, "no Python with NumPy");
    const CommandResult refused = run_command(PYTHON " scripts/nearest_sentences.py " + (folder / "text.txt").string() + " " +
                                              (folder / "vectors.npy").string());
    CHECK(refused.exit_code == 1);
    CHECK(refused.err.find("vectors.npy has 2 rows") != refused.err.npos);
    CHECK(refused.err.find("text.txt has 3 lines") != refused.err.npos);
}

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
