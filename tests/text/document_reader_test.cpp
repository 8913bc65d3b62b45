#include "text/reader/document_reader.h"

#include <algorithm>

#include "core/error.h"
#include "documents.h"
#include "packing.h"
#include "support/catch.h"
#include "text/reader/input_files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;
using Lines = std::vector<std::string>;
using namespace std::string_literals;

namespace {

template <class Failure = DataError>
std::string failure_to_read(const std::string& content, const InputSettings& settings = {}) {
    try {
        documents_of(content, settings);
    } catch (const Failure& error) { return error.what(); }
    return "no failure";
}

InputSettings lenient() {
    InputSettings settings;
    settings.most_bad = 1;
    return settings;
}

}  // namespace

TEST_CASE("an empty line separates documents of plain text, and their lines are kept where each is a sentence") {
    CHECK(documents_of("One is.\n Two is. \r\n\n \nThree is") == Lines{"1||One is.|Two is.", "5||Three is"});
    CHECK(documents_of("\xEF\xBB\xBFOne is.\n") == Lines{"1||One is."});
}

TEST_CASE("code that reads sentence text by itself gets no text with a byte order mark") {
    const TemporaryFolder folder;
    TaskPool pool(1);
    for (const bool has_mark : {false, true}) {
        write_text(folder / "a.txt", std::string(has_mark ? "\xEF\xBB\xBF" : "") + "One is.\nTwo is.\n\nThree is.\n");
        CHECK(DocumentReader({folder / "a.txt"}, {}, pool).is_sentence_text() == !has_mark);
    }
}

TEST_CASE("paragraphs are split into sentences, in all formats alike") {
    const Lines expected = {"1||One is.|Two is.|Three is."};
    CHECK(documents_of("One is. Two is.\nThree is.\n") == expected);
    CHECK(documents_of("{\"text\": \"One is. Two is.\\n\\nThree is.\"}\n") == expected);
    CHECK(documents_of("n,text\n1,\"One is. Two is.\nThree is.\"\n") == Lines{"2||One is.|Two is.|Three is."});
    InputSettings none;
    none.sentences.none = true;
    CHECK(documents_of("One is. Two is.\nThree is.\n", none) == Lines{"1||One is. Two is.|Three is."});
}

TEST_CASE("a line of TSV is a record, and its quotes are ordinary characters") {
    CHECK(documents_of("label\ttext\na\t\"Open is it.\nb\tmiddle is.\nc\tthe end is.\"\nd\t\"So \"\"it\"\" is.\"\n") ==
          Lines{"2||\"Open is it.", "3||middle is.", "4||the end is.\"", "5||\"So \"\"it\"\" is.\""});
}

TEST_CASE("wrapped lines are joined, and each file is then a document") {
    std::string text;
    const std::string words[] = {"alpha", "of", "the", "seventh", "house.", "It", "stood", "upon", "a", "hill,"};
    std::size_t column = 0;
    for (int i = 0; i < 600; ++i) {
        const std::string& word = words[i % 10];
        const bool fits = column + 1 + word.size() <= 60;
        text += column == 0 ? "" : fits ? " " : "\n";
        column = fits && column > 0 ? column + 1 + word.size() : word.size();
        text += word;
        if (i % 100 == 99) {
            text += "\n\n";
            column = 0;
        }
    }
    const Lines found = documents_of(text);
    REQUIRE(found.size() == 1);
    CHECK(found[0].starts_with("1||alpha of the seventh house.|It stood upon a hill, alpha of the seventh house.|It stood"));
    InputSettings settings;
    settings.documents = "empty-lines";
    CHECK(documents_of(text, settings).size() == 6);
}

TEST_CASE("several files of paragraphs with empty lines between them are one document each, and settings decide otherwise") {
    const TemporaryFolder folder;
    for (const char* name : {"a.txt", "b.txt"}) write_text(folder / name, "One is. Two is.\n\nThree is. Four is.\n");
    CHECK(documents_in({folder.path()}) == Lines(2, "1||One is.|Two is.|Three is.|Four is."));
    InputSettings settings;
    settings.documents = "empty-lines";
    CHECK(documents_in({folder.path()}, settings).size() == 4);
    settings.documents = "lines";
    settings.lines = "sentences";
    CHECK(documents_in({folder / "a.txt"}, settings) == Lines{"1||One is. Two is.", "3||Three is. Four is."});
}

TEST_CASE("JSONL gives the named text and id of each object") {
    InputSettings settings;
    settings.text_field = "body";
    settings.id_field = "n";
    CHECK(documents_of("{\"x\": {\"body\": \"no\"}, \"body\": \"A \\u00e4.\", \"n\": 7}\n\n{\"n\": \"b\", \"body\": \"\"}\n",
                       settings) == Lines{"1|7|A ä.", "3|b"});
}

TEST_CASE("CSV follows RFC 4180: quoted fields may hold delimiters, line breaks and doubled quotes") {
    InputSettings settings;
    settings.id_field = "id";
    CHECK(documents_of("id,text\r\n1,\"Who, \"\"I\"\"\nsaid.\"\r\n2,5\" wide\n\n3,last", settings) ==
          Lines{"2|1|Who, \"I\"|said.", "4|2|5\" wide", "6|3|last"});
    CHECK(documents_of("id\ttext\n1\tOne, two.\n", settings) == Lines{"2|1|One, two."});
}

TEST_CASE("Excel's line with the separator before a table's header is no record, and lines are counted with it") {
    InputSettings settings;
    settings.id_field = "id";
    for (const std::string line : {"sep=;\r\n", "\xEF\xBB\xBFsep=;\n", "\"sep=;\"\n"})
        CHECK(documents_of(line + "id;text\n1;One, two.\n", settings) == Lines{"3|1|One, two."});
}

TEST_CASE("the header of a second table that was appended to the first is no record") {
    for (const std::string mark : {"", "\xEF\xBB\xBF"})
        CHECK_THAT(failure_to_read("id,text\n1,One is.\n" + mark + "id,text\n2,Two is.\n"),
                   Contains("corpus:3: repeats the header, as where tables are joined"));
}

TEST_CASE("a table of random fields is read as it was written, across chunks") {
    std::string table = "id,text,note\n";
    Lines expected;
    std::uint64_t line = 2, state = 1;
    const auto random = [&](std::uint64_t below) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return (state >> 33) % below;
    };
    for (int i = 0; i < 60'000; ++i) {
        std::string text = "x", quoted = "\"x";
        for (std::uint64_t k = random(60); k > 0; --k) {
            const char c = std::string("ab \",\n;y")[random(8)];
            text += c;
            quoted += c == '"' ? "\"\"" : std::string(1, c);
        }
        text += "z";
        expected.push_back(std::to_string(line) + "||" + text);
        table += std::to_string(i) + "," + quoted + "z\",\"\"\n";
        line += 1 + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    }
    InputSettings settings;
    settings.sentences.none = true;
    const Lines found = documents_of(table, settings);
    REQUIRE(found.size() == expected.size());
    const auto without_breaks = [](std::string text) {  // blank lines and white space at lines' ends are not kept
        std::erase_if(text, [](char c) { return c == '\n' || c == ' ' || c == '|'; });
        return text;
    };
    for (std::size_t i = 0; i < found.size(); ++i)
        if (without_breaks(found[i]) != without_breaks(expected[i])) FAIL(found[i] << " is not " << expected[i]);
}

TEST_CASE("a text field with dots reaches into objects, and commas join several fields by line ends") {
    InputSettings settings;
    settings.lines = "sentences";
    settings.most_bad = 1;
    const auto read = [&](const std::string& field, const std::string& records, const std::string& id = {}) {
        settings.text_field = field;
        settings.id_field = id;
        return documents_of(records, settings);
    };
    const std::string nested =
        R"({"product": {"title": "A tub.", "body": "It is big.", "tags": ["x", {"title": "No."}]}, "n": {"id": 7}}
{"product": {"title": null, "body": "It is red."}, "n": {"id": "b"}}
{"product": {"title": "A hat.", "deep": {"body": "No."}}, "n": {"id": "c"}}
{"product": {"title": 5, "body": "It is odd."}, "n": {"id": "d"}}
{"product": {"tags": ["x"]}, "n": {"id": "e"}}
)";
    CHECK(read("product.body", nested) == Lines{"1||It is big.", "2||It is red.", "4||It is odd."});
    CHECK(read("product.deep.body", nested) == Lines{"3||No."});
    CHECK(read("product.title,product.body", nested, "n.id") == Lines{"1|7|A tub.|It is big.", "2|b|It is red.", "3|c|A hat."});
    CHECK(read("product.body,product.title", nested) == Lines{"1||It is big.|A tub.", "2||It is red.", "3||A hat."});
    CHECK(read("a.b", R"({"a": {"b": "Inner."}, "a.b": "Whole."})") == Lines{"1||Whole."});
    CHECK(read("a.b", R"({"a.b": "Whole.", "a": {"b": "Inner."}})") == Lines{"1||Whole."});
    CHECK(read("a,b", R"({"a": "A.", "b": "B.", "a,b": "Whole."})") == Lines{"1||Whole."});
    CHECK(read("a,b", "a,b,c\nOne.,Two.,x\n,Four.,x\n") == Lines{"2||One.|Two.", "3||Four."});
    CHECK(read("a.b", "a.b,c\nOne.,x\n") == Lines{"2||One."});
}

TEST_CASE("a field that no record has is reported on one line, with what the records have and what is inside their objects") {
    std::string records;
    for (int i = 0; i < 30; ++i)
        records += R"({"sku": 1, "product": {"title": "A tub", "body": "It is big and red.", "tags": []}})"
                   "\n";
    const auto refused = [&](const std::string& field) {
        InputSettings settings;
        settings.text_field = field;
        try {
            documents_of(records, settings);
        } catch (const DataError& error) { return std::string(error.what()); }
        return std::string("nothing was refused");
    };
    const std::string inside =
        "\"product\" is an object with the fields title, body, tags: --text-field product.body (and 29 more)";
    for (const auto& [field, problem] :
         {std::pair("body", "corpus:1: has no field \"body\", only: sku, product; " + inside),
          std::pair("product.titel", "corpus:1: has no field \"product.titel\", only: sku, product; " + inside),
          std::pair("product", "corpus:1: its field \"product\" is an object, expected a string; " + inside),
          std::pair("product.tags",
                    "corpus:1: its field \"product.tags\" is an array, expected a string; jq -c '.text = "
                    "(.[\"product\"][\"tags\"] | join(\"\\n\"))' makes one of it"s),
          std::pair("titel,text", "corpus:1: has no field \"titel\", only: sku, product; " + inside)}) {
        const std::string message = refused(field);
        CAPTURE(field, message);
        CHECK_THAT(message, Contains(problem));
        CHECK(std::count(message.begin(), message.end(), '\n') == 2);
    }
}

TEST_CASE("malformed records are left out, and too many of them are refused with file, line and problem") {
    const std::string bad =
        "{\"text\": \"Good.\"}\n{\"text\": null}\n{\"text\": \"cut\n[1]\n{\"body\": \"x\", \"id\": 1}\n{\"text\": \"K\xE4se\"}\n"
        "{\"text\": \"Fine.\"}\n";
    CHECK(documents_of(bad, lenient()) == Lines{"1||Good.", "7||Fine."});
    const std::string message = failure_to_read(bad);
    for (const char* part : {"5 of 7 records are malformed (71.43 %), more than --max-bad allows (0.10 %)",
                             "corpus:2: its field \"text\" is null", "corpus:3: is not JSON", "corpus:4: is a JSON array",
                             "corpus:5: has no field \"text\", only: body, id", "corpus:6: is not"})
        CHECK_THAT(message, Contains(part));
    const std::string table = "id,text\n1,Good.\n2,\"cut\n3,a,b\n4,\"x\" y\n5,K\xE4se\n6,Fine.\n";
    CHECK(documents_of(table, lenient()) == Lines{"2||Good.", "7||Fine."});
    CHECK_THAT(failure_to_read(table), Contains("corpus:3: has") && Contains("corpus:4: has 3 fields, expected 2") &&
                                           Contains("corpus:5: has text after a field's closing quote") &&
                                           Contains("corpus:6: its text is not UTF-8"));
    CHECK_THAT(failure_to_read("id,body\n1,a\n2,b\n"), Contains("has no column \"text\", only: id, body"));
}

TEST_CASE("files that are compressed, and any mix of formats, are read in the order that is given") {
    const TemporaryFolder folder;
    write_text(folder / "a.gz", gzip(folder, "One is.\n"));
    write_text(folder / "b", bzip2("{\"text\": \"Two is.\"}\n"));
    write_text(folder / "c.xml",
               "<mediawiki><page><title>T</title><ns>0</ns><revision><text>Three is.</text></revision></page></mediawiki>");
    write_text(folder / ".hidden", "No.\n");
    write_text(folder / "empty", "");
    std::filesystem::remove(folder / "packed.gz");
    CHECK(documents_in({folder / "c.xml", folder / "b", folder / "a.gz"}) == Lines{"0|T|Three is.", "1||Two is.", "1||One is."});
    CHECK(documents_in({folder.path()}).size() == 3);
}

TEST_CASE("zeros after compressed data are padding, between its streams and at the end") {
    const TemporaryFolder folder;
    const auto pack = GENERATE(
        +[](const TemporaryFolder& in, const std::string& plain) { return gzip(in, plain); },
        +[](const TemporaryFolder&, const std::string& plain) { return bzip2(plain); });
    const std::string one = pack(folder, "One is.\n"), two = pack(folder, "Two is.\n");
    for (const std::size_t zeros : {1U, 3U, 15U, 40U, 10'240U, 600'000U}) {
        CAPTURE(zeros);
        CHECK(documents_of(one + std::string(zeros, '\0')) == Lines{"1||One is."});
        CHECK(documents_of(one + std::string(zeros, '\0') + two + std::string(zeros, '\0')) == Lines{"1||One is.|Two is."});
        CHECK_THAT(failure_to_read(one + std::string(zeros, '\0') + "garbage after it"), Contains("damaged near byte"));
    }
}

TEST_CASE("zstd frames are read up to a window of 2^31, which zstd writes with --long=31") {
    CHECK(documents_of(zstd("One is.\n") + zstd("Two is.\n", 27)) == Lines{"1||One is.|Two is."});
    CHECK(documents_of(zstd("One is.\n", 31)) == Lines{"1||One is."});
}

TEST_CASE("a file that was compressed twice, or in another compression, is refused by name") {
    const TemporaryFolder folder;
    for (const std::string& once : {gzip(folder, "One is.\n"), bzip2("One is.\n"), zstd("One is.\n")}) {
        CHECK_THAT(failure_to_read(gzip(folder, once)), Contains("is compressed twice") && Contains("do: unpack it once"));
        CHECK_THAT(failure_to_read(bzip2(once)), Contains("is compressed twice"));
    }
    CHECK_THAT(failure_to_read("\xFD"
                               "7zXZ\0\0\4"s),
               Contains("is compressed with xz") && Contains("do: unpack it first: `xz -dk FILE`"));
}

TEST_CASE("another encoding is converted, and text that does not have it is refused with the byte") {
    InputSettings settings;
    settings.encoding = "latin-1";
    CHECK(documents_of("K\xE4se.\n", settings) == Lines{"1||Käse."});
    CHECK_THAT(failure_to_read("One.\nK\xE4se, gr\xFCn, \xF6ko.\n"),
               Contains("byte 6 is not UTF-8 (0xE4)") && Contains("--encoding latin1"));
    settings.encoding = "utf-16";
    CHECK(documents_of({"\xFF\xFEK\0\xE4\0.\0\n\0", 10}, settings) == Lines{"1||Kä."});
    CHECK_THAT(failure_to_read({"\xFF\xFEK\0\xE4", 5}, settings),
               Contains("in the middle of a character of UTF-16LE, at byte 4"));
    CHECK_THAT(failure_to_read({"\xFF\xFEK\0\0\xDC.\0", 8}, settings), Contains("byte 4 is not UTF-16LE"));
    settings.encoding = "latin-1";
    const std::string utf8 = "Größe des Büros.\n";
    CHECK_THAT(failure_to_read(utf8, settings), Contains("is UTF-8 already, and would be garbled by --encoding latin-1"));
    CHECK_THAT(failure_to_read(std::string(300'000, 'a') + "\n" + utf8, settings), Contains("is UTF-8 already"));
    CHECK(documents_of(utf8 + "K\xE4se.\n", settings).size() == 1);
    settings.encoding = "UTF-8";
    CHECK(documents_of(utf8, settings) == Lines{"1||Größe des Büros."});
    settings.encoding = "klingon";
    CHECK_THAT(failure_to_read<ConfigError>("One.\n", settings), Contains("--encoding klingon"));
}

TEST_CASE("a document that is too large may be several, so the message names the option that separates them") {
    std::string text;
    while (text.size() < (std::size_t{66} << 20))
        text += "One is.\n\nTwo is, and this line is long enough to need few of them.\n\n";
    InputSettings settings;
    settings.documents = "files";
    CHECK_THAT(failure_to_read(text, settings), Contains("a document that begins here is larger than 64 MiB"));
    CHECK_THAT(failure_to_read(text, settings), Contains("--documents empty-lines"));
}

TEST_CASE("documents do not depend on the number of threads, across chunks and with a large document among small ones") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 60'000; ++i) text += "Sentence number " + std::to_string(i) + (i % 7 == 0 ? ".\n \n" : ".\n");
    text += "\n" + std::string(std::size_t{3} << 20, 'a') + "\n\nThe end";
    write_text(folder / "a.txt", text);
    const Lines one = documents_in({folder / "a.txt"}, {}, 1);
    CHECK(one.size() == 8575);
    CHECK(one[1] ==
          "3||Sentence number 1.|Sentence number 2.|Sentence number 3.|Sentence number 4.|Sentence number 5.|Sentence number 6.|"
          "Sentence number 7.");
    CHECK(one.back() == "68576||The end");
    CHECK((documents_in({folder / "a.txt"}, {}, 3) == one));
}

TEST_CASE("a document of more than 64 MiB is refused with its line") {
    CHECK_THAT(failure_to_read("A.\n\n" + std::string(std::size_t{68} << 20, 'a')),
               Contains("corpus:3: a document that begins here is larger than 64 MiB"));
}

TEST_CASE("a JSONL record of more than 64 MiB is malformed, and the records around it are read") {
    const std::string large = "{\"text\": \"" + std::string(std::size_t{68} << 20, 'a') + "\"}";
    InputSettings settings;
    settings.most_bad = 0.4;
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl", "{\"text\": \"One.\"}\n" + large + "\n{\"text\": \"Three.\"}\n");
    CHECK((documents_in({folder / "a.jsonl"}, settings) == Lines{"1||One.", "3||Three."}));
    CHECK_THAT(failure_to_read("{\"text\": \"One.\"}\n" + large), Contains("corpus:2: is larger than 64 MiB"));
}

TEST_CASE("an editor's copies of a text are not read as texts, and other odd names are") {
    const TemporaryFolder folder;
    for (const char* name : {"a.txt", "a.txt~", "#a.txt#", ".a.txt.swp", "#1", "b~c", "c#"}) write_text(folder / name, "One.\n");
    std::vector<std::string> names;
    for (const auto& file : input_files({folder.path()})) names.push_back(file.filename().string());
    CHECK(names == std::vector<std::string>{"#1", "a.txt", "b~c", "c#"});
}

TEST_CASE("an unfinished file or folder below a folder is not read, but may be given itself") {
    const TemporaryFolder folder;
    for (const char* name : {"a.txt", "b.txt.partial", "c.incomplete", "d.crdownload", "partial"})
        write_text(folder / name, "One.\n");
    std::filesystem::create_directory(folder / "vectors.npy.partial");
    write_text(folder / "vectors.npy.partial" / "text", "One.\n");
    std::vector<std::string> names;
    for (const auto& file : input_files({folder.path()})) names.push_back(file.filename().string());
    CHECK(names == std::vector<std::string>{"a.txt", "partial"});
    CHECK(documents_in({folder / "b.txt.partial"}).size() == 1);
}

TEST_CASE("a link in a folder that leads to no file is refused, unless it is hidden") {
    const TemporaryFolder folder;
    write_text(folder / "a", "One.\n");
    std::filesystem::create_symlink("gone", folder / ".hidden");
    std::filesystem::create_symlink("a", folder / "again");
    CHECK_THROWS_AS(documents_in({folder.path()}), ConfigError);  // "again" is the file "a" under another name
    std::filesystem::remove(folder / "again");
    CHECK(documents_in({folder.path()}).size() == 1);
    std::filesystem::create_symlink("gone", folder / "link");
    CHECK_THROWS_WITH(documents_in({folder.path()}), Contains("link: is a link to a file that is missing, gone"));
}

TEST_CASE("a file that is given twice, and inputs without text, are refused") {
    const TemporaryFolder folder;
    write_text(folder / "a", "One.\n");
    CHECK_THROWS_AS(documents_in({folder / "a", folder.path()}), ConfigError);
    write_text(folder / "a", "");
    CHECK_THROWS_AS(documents_in({folder / "a"}), DataError);
    CHECK_THROWS_AS(documents_in({folder / "absent"}), DataError);
    std::filesystem::remove(folder / "a");
    CHECK_THROWS_AS(documents_in({folder.path()}), DataError);
}

TEST_CASE("documents are the same for LF, CR LF and CR, in all formats") {
    for (const std::string text : {"One is.\nTwo is.\n\nThree is.\n", "{\"text\": \"One is.\"}\n{\"text\": \"Two is.\"}\n",
                                   "id,text\n1,One is.\n2,\"Two\nis.\"\n"}) {
        CAPTURE(text);
        std::string with_cr = text, with_crlf;
        std::replace(with_cr.begin(), with_cr.end(), '\n', '\r');
        for (const char c : text) with_crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
        CHECK(documents_of(with_cr) == documents_of(text));
        CHECK(documents_of(with_crlf) == documents_of(text));
    }
    CHECK(documents_of("{\"text\": \"One is.\\rTwo is.\\r\\n\\rThree is.\"}\n") == Lines{"1||One is.|Two is.|Three is."});
}

TEST_CASE("a line of white space beyond ASCII separates documents, as Python's strip() has it") {
    for (const char* blank : {"\xE3\x80\x80", "\xC2\xA0", " \xE2\x80\x83\t", "\xE2\x80\xA8", "\x1C"}) {
        const std::string text = std::string("One is.\n") + blank + "\nTwo is.\n";
        CHECK(documents_of(text) == Lines{"1||One is.", "3||Two is."});
    }
    CHECK(documents_of("One is.\n\xE2\x80\x8B\nTwo is.\n") == Lines{"1||One is.|\xE2\x80\x8B|Two is."});
}

TEST_CASE("a table's column whose name occurs twice is refused, and names in --text-field may have spaces around them") {
    InputSettings csv;
    csv.format = "csv";
    CHECK_THROWS_WITH(documents_of("id,text,text\n1,First a.,Second b.\n", csv), Catch::Contains("has several columns \"text\""));
    CHECK(documents_of("id,id,text\n1,2,First a.\n", csv).size() == 1);
    InputSettings jsonl;
    jsonl.format = "jsonl";
    jsonl.text_field = "title, body";
    CHECK_THAT(documents_of(R"({"title": "Name.", "body": "The text."})", jsonl).at(0), Catch::Contains("The text."));
}

TEST_CASE("a folder may be given with a slash at its end, also where it has a link to another folder") {
    const TemporaryFolder folder;
    for (const char* name : {"corpus", "other"}) std::filesystem::create_directory(folder / name);
    write_text(folder / "other/a.txt", "One.\n");
    std::filesystem::create_directory_symlink(folder / "other", folder / "corpus/link");
    CHECK(input_files({folder / "corpus/"}) == std::vector<std::filesystem::path>{folder / "corpus/link/a.txt"});
    std::filesystem::create_directory_symlink("..", folder / "corpus/loop");
    CHECK_THROWS_WITH(input_files({folder / "corpus/"}), Contains("loop: is a link to a folder that it lies in"));
}

TEST_CASE("a character that an encoding holds back until the next one is read at the end, too") {
    InputSettings settings;
    settings.encoding = "cp1258";
    CHECK(documents_of("Viet la", settings) == Lines{"1||Viet la"});
}
