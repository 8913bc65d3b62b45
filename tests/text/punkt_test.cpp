#include "text/punkt.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "boundary_agreement.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "text/punkt_training.h"
#include "text/utf8.h"

using namespace bertpretrain;
using Sentences = std::vector<std::string>;

namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> types;
    for (const PunktToken& token : punkt_tokens(text)) types.push_back(token.type);
    return types;
}

}  // namespace

TEST_CASE("punkt's words end at white space, brackets, quotation marks, dashes, ellipses and commas") {
    CHECK(words("He (the \"boss\") said: 1,000.5 -- or...more, a.b. co-op") ==
          Sentences{"he", "(", "the", "\"", "boss", "\"", ")", "said", ":", "##number##", "--", "or", "...", "more", ",", "a.b.",
                    "co-op"});
    CHECK(words("so . . . it is . . ") == Sentences{"so", ". . .", "it", "is", ".", "."});
}

TEST_CASE("with given parameters punkt gives NLTK's sentences") {
    NEEDS_SHARED_DATA();
    const PunktParameters parameters = PunktParameters::read(testing::shared_data() / "punkt");
    std::ifstream golden(testing::shared_data() / "sentences/golden_segmentation.jsonl");
    int rows = 0;
    for (std::string line; std::getline(golden, line); ++rows) {
        const nlohmann::json row = nlohmann::json::parse(line);
        Sentences right = row["punkt"].get<Sentences>();
        if (!right.empty()) right.front() = std::string(trimmed(right.front()));  // one row begins with a space, which NLTK keeps
        CHECK(punkt_sentences(parameters, row["text"].get<std::string>()) == right);
    }
    CHECK(rows == 409);
}

TEST_CASE("what punkt learns from Wikipedia splits nearly as the given parameters do") {
    NEEDS_SHARED_DATA();
    std::ifstream corpus(testing::shared_data() / "plain/wiki_2021_sentences.txt");
    const std::string all{std::istreambuf_iterator<char>(corpus), {}};
    TaskPool pool(1);
    const PunktParameters learned = learn_punkt({all}, pool);
    for (const char* word : {"u.s", "jr", "e.g", "b.c"}) CHECK(learned.abbreviations.contains(word));
    CHECK(learned.sentence_starters.contains("the"));

    // Measured: 0.987.
    CHECK(testing::boundary_f1("punkt", [&](const std::string& text) { return punkt_sentences(learned, text); }) >= 0.97);
}

TEST_CASE("what punkt learns does not depend on how texts are shared among threads") {
    NEEDS_SHARED_DATA();
    std::ifstream corpus(testing::shared_data() / "plain/wiki_2021_sentences.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(corpus, line);) lines.push_back(line);
    std::vector<std::string_view> texts;  // twice, for there to be several parts
    for (int round = 0; round < 2; ++round) texts.insert(texts.end(), lines.begin(), lines.end());
    TaskPool one(1), three(3);
    const PunktParameters alone = learn_punkt(texts, one), shared = learn_punkt(texts, three);
    CHECK(alone.abbreviations == shared.abbreviations);
    CHECK(alone.collocations == shared.collocations);
    CHECK(alone.sentence_starters == shared.sentence_starters);
    CHECK(alone.orthography == shared.orthography);
    CHECK(alone.abbreviations.size() > 50);
}

TEST_CASE("punkt loses no word and takes linear time, whatever the text") {
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

TEST_CASE("punkt parameters that are missing or malformed are refused") {
    const testing::TemporaryFolder folder;
    CHECK_THROWS_AS(PunktParameters::read(folder.path()), ConfigError);
    for (const char* name : {"abbrev_types.txt", "sent_starters.txt", "collocations.tab"}) std::ofstream(folder / name);
    std::ofstream(folder / "ortho_context.tab") << "the\t126\nmoon\tx\n";
    CHECK_THROWS_WITH(PunktParameters::read(folder.path()), Catch::Contains("ortho_context.tab:2"));
}
