#include "text/sentences/punkt.h"

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "boundary_agreement.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/golden.h"
#include "support/shared_data.h"
#include "text/sentences/punkt_training.h"
#include "text/sentences/sentences.h"
#include "text/utf8.h"

using namespace bertpretrain;
using Sentences = std::vector<std::string>;

namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> types;
    for (const PunktToken& token : punkt_tokens(text)) types.push_back(token.type);
    return types;
}

/// The articles that WikiExtractor made of our sample encyclopaedia, a paragraph per line.
std::string paragraphs() {
    std::istringstream lines(testing::read_text(testing::golden_sample("wikiextractor_6408a43_no_templates.txt")));
    std::string text;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && !line.starts_with('<')) text += line + "\n";
    return text;
}

}  // namespace

TEST_CASE("words of Punkt end at white space, brackets, quotation marks, dashes, ellipses and commas") {
    CHECK(words("He (the \"boss\") said: 1,000.5 -- or...more, a.b. co-op") ==
          Sentences{"he", "(", "the", "\"", "boss", "\"", ")", "said", ":", "##number##", "--", "or", "...", "more", ",", "a.b.",
                    "co-op"});
    CHECK(words("so . . . it is . . ") == Sentences{"so", ". . .", "it", "is", ".", "."});
}

TEST_CASE("punkt learns NLTK's parameters from our own text, and splits it into NLTK's sentences", "[system]") {
    const std::string text = paragraphs();
    const testing::TemporaryFolder folder;
    testing::write_text(folder / "text", text);
    const testing::CommandResult nltk =
        testing::run_command(PYTHON " tests/text/nltk_punkt.py " + (folder / "text").string() + " " + folder.path().string());
    if (nltk.exit_code == 77) SKIP_TEST(testing::skip::no_oracle, "no Python with nltk");
    INFO(nltk.err);
    REQUIRE(nltk.exit_code == 0);
    const PunktParameters given = PunktParameters::read(folder.path());
    CHECK(given.abbreviations.size() > 5);
    CHECK(given.orthography.size() > 4000);
    std::istringstream lines(text), expected(nltk.out);
    std::size_t sentences = 0;
    for (std::string line, right; std::getline(lines, line) && std::getline(expected, right);) {
        const Sentences found = punkt_sentences(given, line);
        CHECK(nlohmann::json(found) == nlohmann::json::parse(right));
        sentences += found.size();
    }
    CHECK(sentences > 2000);

    TaskPool pool(1);
    const PunktParameters learned = learn_punkt({text}, pool);
    CHECK(learned.abbreviations == given.abbreviations);
    CHECK(learned.collocations == given.collocations);
    CHECK(learned.sentence_starters == given.sentence_starters);
    CHECK(learned.orthography == given.orthography);
}

TEST_CASE("on real paragraphs punkt gives NLTK's sentences, and what it learns from Wikipedia splits nearly as well") {
    NEEDS_SHARED_DATA();
    const PunktParameters parameters = PunktParameters::read(testing::shared_data() / "punkt");
    std::ifstream golden(testing::shared_data() / "sentences/golden_segmentation.jsonl");
    int rows = 0;
    for (std::string line; std::getline(golden, line); ++rows) {
        const nlohmann::json row = nlohmann::json::parse(line);
        Sentences right = row["punkt"].get<Sentences>();
        if (!right.empty()) right.front() = std::string(trimmed(right.front()));  // NLTK keeps a space at the start of one row
        CHECK(punkt_sentences(parameters, row["text"].get<std::string>()) == right);
    }
    CHECK(rows == 409);

    std::ifstream corpus(testing::shared_data() / "plain/wiki_2021_sentences.txt");
    const std::string all{std::istreambuf_iterator<char>(corpus), {}};
    TaskPool pool(1);
    const PunktParameters learned = learn_punkt({all}, pool);
    for (const char* word : {"u.s", "jr", "e.g", "b.c"}) CHECK(learned.abbreviations.contains(word));
    CHECK(learned.sentence_starters.contains("the"));
    // Measured: 0.987.
    CHECK(testing::boundary_f1("punkt", [&](const std::string& text) { return punkt_sentences(learned, text); }) >= 0.97);

    // The English rules. Measured: 0.986 and 0.997 (408 paragraphs; Punkt and BlingFire agree with each other to 0.985).
    const auto english = [](const std::string& text) { return SentenceSplitter().split(text); };
    CHECK(testing::boundary_f1("punkt", english) > 0.98);
    CHECK(testing::boundary_f1("blingfire", english) > 0.99);
}

TEST_CASE("the parameters that Punkt learns do not depend on the number of threads") {
    const std::string text = paragraphs();
    std::vector<std::string_view> texts(16, text);  // each of them may be a part of its own
    TaskPool one(1), three(3);
    const PunktParameters alone = learn_punkt(texts, one), shared = learn_punkt(texts, three);
    CHECK(alone.abbreviations == shared.abbreviations);
    CHECK(alone.collocations == shared.collocations);
    CHECK(alone.sentence_starters == shared.sentence_starters);
    CHECK(alone.orthography == shared.orthography);
    CHECK(alone.abbreviations.size() > 5);
}

TEST_CASE("Punkt loses no word and takes linear time on any text") {
    const PunktParameters nothing;
    for (const std::string piece : {".", ". ", "a.", "\"", ".\" ", "A. ", "...) ", "!", "! a", ". .", "-", "\xFF."}) {
        std::string text;
        while (text.size() < 300'000) text += piece;
        std::size_t bytes = 0;
        for (const std::string& sentence : punkt_sentences(nothing, text)) bytes += sentence.size();
        CHECK(bytes <= 3 * text.size());
        CHECK(bytes > 0);
    }
    CHECK(punkt_sentences(nothing, "").empty());
    CHECK(punkt_sentences(nothing, "  \n ").empty());
}

TEST_CASE("missing or malformed Punkt parameters are refused") {
    const testing::TemporaryFolder folder;
    CHECK_THROWS_AS(PunktParameters::read(folder.path()), ConfigError);
    for (const char* name : {"abbrev_types.txt", "sent_starters.txt", "collocations.tab"}) std::ofstream(folder / name);
    std::ofstream(folder / "ortho_context.tab") << "the\t126\nmoon\tx\n";
    CHECK_THROWS_WITH(PunktParameters::read(folder.path()), Catch::Contains("ortho_context.tab:2"));
}
