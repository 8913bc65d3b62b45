#include "shards/build/token_spill.h"

#include <map>

#include "core/error.h"
#include "core/files/files.h"
#include "core/random.h"
#include "sample_rows.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("each group is read back as it was written, and the folder shows no file") {
    const TemporaryFolder folder;
    const auto articles = made_up_documents(3000, 8);
    TokenSpill spill(folder.path(), 5);
    CHECK(list_files(folder.path(), {""}).empty());
    std::map<std::size_t, std::vector<std::size_t>> articles_of;
    RandomSequence random(1, Purpose::document_order, 0);
    for (std::size_t a = 0; a < articles.size(); ++a) {
        const std::size_t group = random.below(4);  // the last group stays empty
        std::vector<std::int32_t> words;
        ArticleWords article(words, static_cast<std::uint32_t>(a));
        for (const auto& sentence : articles[a]) {
            article.add_sentence([](std::vector<std::int32_t>&) {});  // sentences without tokens are omitted
            article.add_sentence([&](auto& ids) { ids.insert(ids.end(), sentence.begin(), sentence.end()); });
        }
        article.finish();
        spill.add(group, words);
        articles_of[group].push_back(a);
    }
    spill.finish();
    for (std::size_t group = 0; group < 5; ++group) {
        const Documents documents = spill.read(group);
        REQUIRE(documents.size() == articles_of[group].size());
        for (std::size_t d = 0; d < documents.size(); ++d) {
            const auto& article = articles[articles_of[group][d]];
            REQUIRE(documents.number(d) == articles_of[group][d]);
            REQUIRE(documents.first_sentence(d + 1) - documents.first_sentence(d) == article.size());
            for (std::uint32_t s = 0; s < article.size(); ++s) {
                const std::uint32_t sentence = documents.first_sentence(d) + s, begin = documents.sentence_begin(sentence);
                const auto tokens = documents.tokens(begin, documents.sentence_begin(sentence + 1) - begin);
                REQUIRE(std::equal(tokens.begin(), tokens.end(), article[s].begin(), article[s].end()));
            }
        }
    }
}

TEST_CASE("an article without tokens adds nothing") {
    std::vector<std::int32_t> words{7};
    ArticleWords article(words, 3);
    article.add_sentence([](std::vector<std::int32_t>&) {});
    article.finish();
    CHECK(words == std::vector<std::int32_t>{7});
}

TEST_CASE("a folder that cannot hold the spill is a DataError") { CHECK_THROWS_AS(TokenSpill("/nonexistent", 1), DataError); }
