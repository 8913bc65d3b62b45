// `extract` as a user runs it: valid and invalid inputs of every kind.

#include <algorithm>

#include <sys/resource.h>
#include <sys/stat.h>

#include <bzlib.h>

#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/process.h"

using namespace bertpretrain::testing;

namespace {

const std::string program = PROGRAM_FOLDER "/bertpretrain_data";

std::string dump_of(int articles) {
    std::string xml = "<mediawiki>\n";
    for (int i = 0; i < articles; ++i) {
        const std::string number = std::to_string(i);
        xml += "<page><title>T" + number + "</title><ns>0</ns><revision><text>It is ''number'' " + number +
               ". {{a|b}} Others [[follow|came]] &lt;ref>x&lt;/ref> later. ";
        for (int k = 0; k < 20; ++k) xml += "Sentence " + std::to_string(i * 31 + k * 7) + " stands here. ";
        xml += "</text></revision></page>\n";
    }
    return xml + "</mediawiki>\n";
}

std::string bzip2(std::string plain) {
    std::string packed(plain.size() + plain.size() / 50 + 700, '\0');
    auto size = static_cast<unsigned>(packed.size());
    REQUIRE(BZ2_bzBuffToBuffCompress(packed.data(), &size, plain.data(), static_cast<unsigned>(plain.size()), 1, 0, 0) == BZ_OK);
    packed.resize(size);
    return packed;
}

/// Runs `extract` on a bad input, checks that it ends with exit code 3, one line and at most one of advice, leaves no files, and
/// returns the message.
std::string refusal_of(const std::string& command, const TemporaryFolder& folder) {
    const CommandResult result = run_command(command + " --output " + (folder / "text.txt").string());
    CAPTURE(command, result.err);
    CHECK(result.exit_code == 3);
    const bool has_advice = result.err.find("\n  do: ") != std::string::npos;
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == (has_advice ? 2 : 1));
    CHECK(result.out.empty());
    CHECK_FALSE(std::filesystem::exists(folder / "text.txt"));
    CHECK_FALSE(std::filesystem::exists(folder / "text.txt.partial"));
    return result.err;
}

std::string refusal_of_content(const std::string& content) {
    const TemporaryFolder folder;
    write_text(folder / "dump", content);
    return refusal_of(program + " extract " + (folder / "dump").string(), folder);
}

}  // namespace

TEST_CASE("the text is the same for any number of threads, from a file or standard input, compressed or not, learning or not") {
    const TemporaryFolder folder;
    const std::string xml = dump_of(20'000);
    write_text(folder / "a.xml", xml);
    write_text(folder / "a.bz2", bzip2(xml));
    const auto text_of = [&](const std::string& options) {
        const auto result = run_command(program + " extract --output " + (folder / "text.txt").string() + " " + options);
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
        return read_text(folder / "text.txt");
    };
    const std::string plain = (folder / "a.xml").string(), packed = (folder / "a.bz2").string();
    const std::string expected = text_of(plain + " --threads 1");
    CHECK(expected.starts_with("It is \"number\" 0.\n"));
    CHECK((text_of(plain + " --threads 3") == expected));
    CHECK((text_of(packed + " --threads 2") == expected));
    CHECK((text_of("- < " + packed) == expected));
    const std::string learned = text_of(plain + " --sentences punkt --threads 1");
    CHECK((text_of(packed + " --sentences punkt --threads 3") == learned));
}

TEST_CASE("list items are dropped, or kept as paragraphs") {
    const TemporaryFolder folder;
    write_text(folder / "a.xml",
               "<mediawiki><page><title>A</title><ns>0</ns><revision><text>It has:\n* Io. It is small.\n# Europa\nSo it "
               "is.</text></revision></page></mediawiki>");
    const auto text = [&](const std::string& options) {
        const auto done = run_command(program + " extract " + (folder / "a.xml").string() + " --output " +
                                      (folder / "text.txt").string() + options);
        return done.exit_code == 0 ? read_text(folder / "text.txt") : std::to_string(done.exit_code);
    };
    CHECK(text("") == "It has:\nSo it is.\n\n");
    CHECK(text(" --lists drop") == text(""));
    CHECK(text(" --lists keep") == "It has:\nIo.\nIt is small.\nEuropa\nSo it is.\n\n");
    CHECK(text(" --lists some") == "2");
}

TEST_CASE("damaged compressed dumps are refused with the position of the damage") {
    const std::string packed = bzip2(dump_of(3'000));
    CHECK(refusal_of_content(packed.substr(0, packed.size() / 2)).find("cut short") != std::string::npos);
    for (const std::size_t bit : {40U, 500U, 90'000U}) {
        std::string flipped = packed;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        CHECK(refusal_of_content(flipped).find("damaged near byte") != std::string::npos);
    }
    CHECK(refusal_of_content(packed + "garbage").find("a bzip2 stream was expected to begin") != std::string::npos);
}

TEST_CASE("malformed dumps are refused with line, byte and page") {
    std::string xml = dump_of(3'000);
    CHECK(refusal_of_content(xml.substr(0, xml.size() / 2)).find("cut short: its XML stops before </mediawiki>") !=
          std::string::npos);
    std::string broken = xml;
    broken.insert(broken.find("<title>T2000<") + 7, "<b>");
    CHECK(refusal_of_content(broken).find("mismatched tag (line 2002, byte") != std::string::npos);
    std::string invalid = xml;
    invalid[invalid.find("number", 400'000)] = '\xFF';
    CHECK(refusal_of_content(invalid).find("bytes that are not UTF-8 (line") != std::string::npos);
    std::string bomb = "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\">";
    for (char c = 'b'; c < 'k'; ++c) {
        const std::string last(1, static_cast<char>(c - 1));
        bomb += "<!ENTITY " + std::string(1, c) + " \"&" + last + ";&" + last + ";&" + last + ";&" + last + ";&" + last + ";\">";
    }
    CHECK(refusal_of_content(bomb + "]>" + xml).find("document type declaration") != std::string::npos);
    CHECK(refusal_of_content("").find("is empty") != std::string::npos);
}

TEST_CASE("a line of a gigabyte is refused in bounded memory, anywhere in the dump") {
    const TemporaryFolder folder;
    const std::string gigabyte = "head -c 1073741824 /dev/zero | tr '\\0' 'a'";
    const auto refusal = [&](const std::string& before) {
        return refusal_of("{ printf '" + before + "'; " + gigabyte + "; } 2>/dev/null | " + program + " extract -", folder);
    };
    const auto text =
        run_command(gigabyte + " 2>/dev/null | " + program + " extract - --output " + (folder / "text.txt").string());
    CHECK(text.exit_code == 3);
    CHECK(text.err.find("standard input:1: a document that begins here is larger than 64 MiB") != std::string::npos);
    CHECK(refusal("<mediawiki>").find("has no <page> in its first 16 MiB") != std::string::npos);
    CHECK(refusal("<mediawiki><page><title>A</title><revision><text>").find("a page of more than 64 MiB") != std::string::npos);
    CHECK(refusal("<doc id=\"1\" url=\"\" title=\"A\">\\nA\\n\\n").find("a page of more than 64 MiB") != std::string::npos);
    rusage children{};
    ::getrusage(RUSAGE_CHILDREN, &children);
    CHECK(children.ru_maxrss < 512 * 1024);  // KiB; the maximum over all programs that this test program has run
}

TEST_CASE("a full disk ends extract with one message, and an older text is kept") {
    const TemporaryFolder folder;
    write_text(folder / "a.xml", dump_of(2'000));
    const std::string command = program + " extract " + (folder / "a.xml").string();
    CHECK(refusal_of("ulimit -f 64; " + command, folder).find("File too large") != std::string::npos);
    write_text(folder / "text.txt", "older");
    const auto result = run_command("ulimit -f 64; " + command + " --output " + (folder / "text.txt").string());
    CHECK(result.exit_code == 3);
    CHECK(read_text(folder / "text.txt") == "older");
}

TEST_CASE("extract that is stopped or killed leaves no file under the final name, and the next run succeeds") {
    const TemporaryFolder folder;
    write_text(folder / "a.xml", dump_of(2'000));
    const std::string output = (folder / "text.txt").string();
    const std::string endless = (folder / "endless").string();
    REQUIRE(::mkfifo(endless.c_str(), 0600) == 0);
    for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
        Process process(program + " extract " + (folder / "a.xml").string() + " - --output " + output + " <>" + endless);
        CHECK(wait_until(process, [&] { return std::filesystem::exists(output + ".partial"); }));
        process.send(signal);
        CHECK(process.wait() == 128 + signal);
        CHECK_FALSE(std::filesystem::exists(output));
        if (signal != SIGKILL) std::filesystem::remove(output + ".partial");  // after SIGKILL the next run finds it
    }
    CHECK(run_command(program + " extract " + (folder / "a.xml").string() + " --output " + output).exit_code == 0);
    CHECK(read_text(output).ends_with(".\n\n"));
    CHECK_FALSE(std::filesystem::exists(output + ".partial"));
}
