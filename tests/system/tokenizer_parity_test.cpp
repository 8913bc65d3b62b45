// Compares `tokenize` with the package `tokenizers`, and with the steps of two other tools in plain Python (tokenizer_oracle.py),
// on intentionally difficult texts.

#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

using namespace bertpretrain::testing;

namespace {

const std::string oracle = PYTHON " tests/system/tokenizer_oracle.py ";

/// A vocabulary with every character, and texts. Unavailable if Python lacks the package `tokenizers`.
class Oracle {
public:
    Oracle() : available_(run_command(oracle + "vocabulary " + path("vocab.txt")).exit_code == 0) {}
    bool available() const { return available_; }

    void write_text(const std::string& command, const std::string& options) const {
        const std::size_t blank = command.find(' ');
        const auto result = run_command(oracle + command.substr(0, blank) + " " + path("text") +
                                        (blank == std::string::npos ? "" : command.substr(blank)) + " " + options);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
    }
    void check_ids(const std::string& rules, const std::string& casing) const {
        const std::string arguments = path("vocab.txt") + " " + path("text");
        const auto theirs = run_command(oracle + "ids " + rules + " " + casing + " " + arguments + " " + path("theirs"));
        const auto ours =
            run_command(PROGRAM_FOLDER "/bertpretrain_data tokenize --rules " + rules + (casing == "cased" ? " --cased" : "") +
                        " --vocabulary " + arguments + " > " + path("ours"));
        const auto difference = run_command("cmp " + path("ours") + " " + path("theirs"));  // names the first line that differs
        INFO(rules << ", " << casing << ": " << theirs.err << ours.err << difference.out << difference.err);
        CHECK(theirs.exit_code == 0);
        CHECK(ours.exit_code == 0);
        CHECK(difference.exit_code == 0);
        CHECK(std::filesystem::file_size(folder_ / "ours") > std::filesystem::file_size(folder_ / "text") / 2);
    }

private:
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    TemporaryFolder folder_;
    bool available_;
};

}  // namespace

TEST_CASE("every Unicode scalar value, alone and between letters, gives the ids of Hugging Face's tokenizers") {
    const Oracle tokenizers;
    if (!tokenizers.available()) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    tokenizers.write_text("scalars", "");
    for (const std::string casing : {"uncased", "cased"}) tokenizers.check_ids("huggingface", casing);
}

TEST_CASE("20 MB of random text in many scripts give the ids of Hugging Face's tokenizers, uncased") {
    const Oracle tokenizers;
    if (!tokenizers.available()) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    tokenizers.write_text("random 20", "");
    tokenizers.check_ids("huggingface", "uncased");
}

TEST_CASE("20 MB of random text in many scripts give the ids of Hugging Face's tokenizers, cased") {
    const Oracle tokenizers;
    if (!tokenizers.available()) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    tokenizers.write_text("random 20", "");
    tokenizers.check_ids("huggingface", "cased");
}

TEST_CASE("every Unicode scalar value and random text give the ids of Google's and NVIDIA's steps under their rules") {
    const Oracle plain;
    if (!plain.available()) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    for (const std::string text : {"scalars", "random 2"}) {
        plain.write_text(text, "--python-unicode");
        for (const std::string rules : {"google", "nvidia"})
            for (const std::string casing : {"uncased", "cased"}) plain.check_ids(rules, casing);
    }
}
