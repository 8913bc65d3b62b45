#include "deduplication/deduplicate.h"

#include <map>
#include <sstream>

#include "core/error.h"
#include "made_up_text.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Result {
    DeduplicationReport report;
    std::string text, json;
    std::map<std::uint32_t, std::uint32_t> kept_of;  ///< by removed document
};

Result deduplicated(const std::string& text, DeduplicationSettings settings = {}) {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", text);
    settings.inputs = {folder / "a.txt"};
    settings.output = folder / "out";
    Result result;
    result.report = deduplicate(settings);
    result.text = read_text(folder / "out/text.txt");
    result.json = read_text(folder / "out/report.json");
    std::istringstream lines(read_text(folder / "out/duplicates.tsv"));
    std::string line;
    std::getline(lines, line);
    for (std::uint32_t removed = 0, kept = 0; lines >> removed >> kept; std::getline(lines, line)) result.kept_of[removed] = kept;
    return result;
}

std::string documents_text(const std::vector<Words>& documents) {
    std::string text;
    for (const Words& words : documents) text += text_of(words) + "\n";
    return text;
}

/// The first document of each document's cluster, by comparing all pairs.
std::vector<std::uint32_t> plain_clusters(const std::vector<Words>& documents, double threshold) {
    std::vector<std::uint32_t> first(documents.size());
    std::vector<std::set<Words>> shingles;
    for (std::uint32_t i = 0; i < documents.size(); ++i) {
        first[i] = i;
        shingles.push_back(plain_shingles(documents[i], 5));
    }
    for (std::size_t i = 0; i < documents.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            if (first[i] == first[j] || plain_jaccard(shingles[i], shingles[j]) < threshold) continue;
            const std::uint32_t from = std::max(first[i], first[j]), to = std::min(first[i], first[j]);
            std::replace(first.begin(), first.end(), from, to);
        }
    return first;
}

/// Originals, and copies of them whose Jaccard values are spread around the threshold.
std::vector<Words> families(std::size_t originals) {
    Numbers numbers(11);
    std::vector<Words> documents;
    for (std::size_t i = 0; i < originals; ++i) {
        documents.push_back(made_up_words(numbers, 40 + numbers.below(160)));
        const Words original = documents.back();
        for (int copy = 0; copy < 3; ++copy) documents.push_back(changed(numbers, original, numbers.below(60)));
    }
    for (std::size_t i = documents.size(); i > 1; --i)
        std::swap(documents[i - 1], documents[numbers.below(static_cast<std::uint32_t>(i))]);
    return documents;
}

}  // namespace

TEST_CASE("of documents with the same words, the first stays as it was written") {
    const Result result = deduplicated("The moon is round.\nIt shines.\n\nAnother one.\n\nthe MOON\nis round - it shines\n\n");
    CHECK(result.text == "The moon is round.\nIt shines.\n\nAnother one.\n\n");
    CHECK(result.kept_of == std::map<std::uint32_t, std::uint32_t>{{2, 0}});
    CHECK(result.report.documents == 3);
    CHECK(result.report.equal_documents == 1);
    CHECK(result.report.near_duplicates == 0);
    CHECK(result.report.kept_documents == 2);
    CHECK(result.report.kept_sentences == 3);
    CHECK(result.report.equal_examples.at(0).removed_begin == "the MOON is round - it shines ");
}

TEST_CASE("of equal documents without words one is kept, and different ones are") {
    CHECK(deduplicated("...\n\n...\n\n \n\nA word.\n\n.\n\n....\n\n...\n\n---------\n\n---------\n").text ==
          "...\n\nA word.\n\n.\n\n....\n\n---------\n\n");
}

TEST_CASE("near-duplicates around the threshold are found as comparing all pairs finds them") {
    const std::vector<Words> documents = families(60);
    const std::vector<std::uint32_t> expected = plain_clusters(documents, 0.8);
    const Result result = deduplicated(documents_text(documents));
    double both = 0, plain = 0;
    for (std::uint32_t i = 0; i < documents.size(); ++i) {
        const bool is_removed = result.kept_of.contains(i);
        plain += expected[i] != i;
        both += is_removed && expected[i] != i;
        if (is_removed) CHECK(expected[result.kept_of.at(i)] == expected[i]);  // the pair is similar, so this cluster is right
    }
    CHECK(plain > 50);
    CHECK(both / plain >= 0.95);
    CHECK(both / static_cast<double>(result.kept_of.size()) >= 0.99);
}

TEST_CASE("the output does not depend on the number of threads") {
    const std::string text = documents_text(families(100));
    DeduplicationSettings settings;
    settings.sentence_limit = 1;
    settings.threads = 1;
    const Result one = deduplicated(text, settings);
    settings.threads = 5;
    settings.memory = least_deduplication_memory;
    const Result five = deduplicated(text, settings);
    CHECK(one.text == five.text);
    CHECK(one.kept_of == five.kept_of);
    CHECK(one.report.removed_sentences == five.report.removed_sentences);
}

TEST_CASE("a sentence that occurs more often than the limit keeps its first place, counted after documents are removed") {
    DeduplicationSettings settings;
    settings.sentence_limit = 2;
    const std::string text =
        "One.\nRead more here.\n\nTwo.\nread MORE here!\nRare.\n\nRead more here.\n\nRare.\nThree four.\n\n"
        "One.\nRead more here.\n\n";
    const Result result = deduplicated(text, settings);
    CHECK(result.text == "One.\nRead more here.\n\nTwo.\nRare.\n\nRare.\nThree four.\n\n");
    CHECK(result.report.equal_documents == 1);
    CHECK(result.report.repeated_sentences == 1);
    CHECK(result.report.removed_sentences == 2);
    CHECK(result.report.emptied_documents == 1);
    REQUIRE(result.report.sentence_examples.size() == 1);
    CHECK(result.report.sentence_examples[0].times == 3);
    CHECK(result.report.sentence_examples[0].sentence == "Read more here.");
    CHECK(deduplicated(text).report.removed_sentences == 0);
}

TEST_CASE("thousands of documents that share bands without being similar take linear time and stay") {
    Numbers numbers(5);
    const Words common = made_up_words(numbers, 60);
    std::vector<Words> documents;
    for (int i = 0; i < 1500; ++i) {
        Words words = made_up_words(numbers, 20);
        words.insert(words.begin(), common.begin(), common.end());
        documents.push_back(words);
    }
    CHECK(deduplicated(documents_text(documents)).kept_of.empty());
}

TEST_CASE("too little memory and an output that would overwrite the input are refused") {
    DeduplicationSettings settings;
    settings.memory = 1000;
    CHECK_THROWS_AS(deduplicated("A.\n", settings), ConfigError);
    const TemporaryFolder folder;
    write_text(folder / "text.txt", "A.\n");
    settings = {};
    settings.inputs = {folder / "text.txt"};
    settings.output = folder.path();
    CHECK_THROWS_AS(deduplicate(settings), ConfigError);
    CHECK(read_text(folder / "text.txt") == "A.\n");
}

TEST_CASE("the record of a text that is replaced is removed before the text, so that it never describes another one") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", "One.\n");
    DeduplicationSettings settings;
    settings.inputs = {folder / "a.txt"};
    settings.output = folder / "out";
    deduplicate(settings);
    REQUIRE(std::filesystem::exists(folder / "out/text.txt.lineage.json"));
    write_text(folder / "a.txt", "Two.\n");
    std::filesystem::create_directory(folder / "out/text.txt.lineage.json.partial");  // so the new record cannot be written
    CHECK_THROWS_AS(deduplicate(settings), DataError);
    CHECK(read_text(folder / "out/text.txt") == "Two.\n\n");
    CHECK_FALSE(std::filesystem::exists(folder / "out/text.txt.lineage.json"));
}
