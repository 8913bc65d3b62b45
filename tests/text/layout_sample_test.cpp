#include "documents.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Lines = std::vector<std::string>;

namespace {

/// A text on one line, of more than `bytes`.
std::string book(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += "The sea was calm. The ship sailed on. ";
    return text + "It sank.";
}

constexpr std::size_t large = std::size_t{1200} << 10;
const std::string two = "One is. Two is.";

std::string last_of(const std::string& corpus) { return documents_of(corpus).back(); }

/// The documents of the files from `first` on, as parts are read.
Lines documents_from(const std::vector<std::filesystem::path>& files, std::size_t first) {
    TaskPool pool(1);
    DocumentReader reader(files, {}, pool);
    reader.read_only(first, files.size());
    Lines documents;
    while (const std::optional<DocumentBatch> batch = reader.next())
        for (const Document& document : batch->documents) documents.push_back(document.text);
    return documents;
}

}  // namespace

TEST_CASE("paragraphs are split also where the first line or record is longer than the sample") {
    std::string records = "{\"text\": \"" + book(large) + "\"}\n";
    std::string table = "n,text\n1,\"" + book(large) + "\"\n";
    for (int i = 0; i < 10; ++i) {
        records += "{\"text\": \"" + two + "\"}\n";
        table += "2," + two + "\n";
    }
    CHECK(last_of(records).ends_with("||One is.|Two is."));
    CHECK(last_of(table).ends_with("||One is.|Two is."));
    CHECK(last_of(book(large)).ends_with("|It sank."));
    CHECK(last_of(book(large) + "\n\n" + two).ends_with("||One is.|Two is."));
}

TEST_CASE("a short line before a long one does not decide for it") {
    CHECK(last_of("Title\n" + book(large)).ends_with("|It sank."));
    CHECK(last_of("{\"text\": \"Title\"}\n{\"text\": \"" + book(large) + "\"}\n").ends_with("|It sank."));
    CHECK(last_of("n,text\n1,Title\n2,\"" + book(large) + "\"\n").ends_with("|It sank."));
}

TEST_CASE("the last record of a table is judged also without a line end") {
    CHECK(last_of("n,text\n1," + two) == "2||One is.|Two is.");
}

TEST_CASE("a long record of sentences leaves sentences as they are") {
    std::string sentences;
    while (sentences.size() < large) sentences += "The sea off St. Ives was calm.\\n";
    CHECK(last_of("{\"text\": \"" + sentences + "\"}\n{\"text\": \"See no. Five of it.\"}\n") == "2||See no. Five of it.");
}

TEST_CASE("many files with long records at their beginning are judged") {
    const TemporaryFolder folder;
    for (int i = 10; i < 30; ++i) {
        const std::string first = "{\"text\": \"" + book(i == 10 ? large : std::size_t{100} << 10) + "\"}\n";
        write_text(folder / std::to_string(i), first + "{\"text\": \"" + two + "\"}\n");
    }
    CHECK(documents_in({folder.path()}).back() == "2||One is.|Two is.");
}

TEST_CASE("a file without text does not decide for those after it, in parts as in the whole") {
    const TemporaryFolder folder;
    std::vector<std::filesystem::path> files;
    for (int i = 10; i < 27; ++i) {  // every second file is sampled
        files.push_back(folder / std::to_string(i));
        write_text(files.back(), i % 2 == 0 ? "\n\n" : two + "\nThree is.");
    }
    const Lines all = documents_from(files, 0);
    CHECK(all == Lines(8, "One is.\nTwo is.\nThree is.\n"));
    for (const std::size_t first : {1U, 2U, 3U, 8U}) CHECK(documents_from(files, first) == Lines(8 - first / 2, all.front()));
}
