// FASTA as documents, with a plain loop over whole lines as the definition.

#include "text/formats/fasta_records.h"

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "documents.h"
#include "packing.h"
#include "support/catch.h"
#include "text/formats/document_format.h"
#include "text/letters.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Catch::Matchers::Contains;
using Lines = std::vector<std::string>;

namespace {

/// Sequences as Biopython's SimpleFastaParser reads them: lines joined, without white space.
std::vector<std::pair<std::string, std::string>> sequences_of(const std::string& file) {
    std::vector<std::pair<std::string, std::string>> sequences;
    std::istringstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with('>')) sequences.emplace_back(line.substr(1, line.find(' ') - 1), "");
        else
            for (const char c : line)
                if (c != ' ') sequences.back().second += static_cast<char>(std::toupper(c));
    return sequences;
}

DocumentBatch records_of(const std::string& file, std::size_t part, bool apart) {
    FastaRecords records(apart);
    DocumentBatch batch;
    for (std::size_t begin = 0; begin < file.size(); begin += part)
        records.add(std::string_view(file).substr(begin, part), batch);
    records.finish(batch);
    return batch;
}

}  // namespace

TEST_CASE("a FASTA record is a document, however its file is divided into parts and its sequence into lines") {
    const std::string file = ">sp|P1|X a protein\nMKV\nRR aa\n\n>P2\nW*-.\n>P3 x\nAC\nGT\nA";
    for (std::size_t part = 1; part <= file.size(); ++part) {
        const DocumentBatch batch = records_of(file, part, false);
        std::vector<std::pair<std::string, std::string>> found;
        for (const Document& document : batch.documents)
            found.emplace_back(document.id, document.text.substr(0, document.text.size() - 1));
        CHECK(found == sequences_of(file));
        CHECK(batch.records == 3);
        CHECK(batch.bad.empty());
    }
    InputSettings settings;  // blanks in a sequence are read, but not recognized
    settings.format = "fasta";
    CHECK(documents_of(file, settings) == Lines{"1|sp|P1|X|M K V R R A A", "5|P2|W * - .", "7|P3|A C G T A"});
}

TEST_CASE("FASTA is recognized by its content, packed or not, with comments, small letters and any line end") {
    const Lines expected{"2|a|A C G T N N", "5|b|G G"};
    CHECK(documents_of("; from a sequencer\n>a first\nACGT\nnn\n>b\ngg\n") == expected);
    CHECK(documents_of("; from a sequencer\r\n>a first\r\nACGT\r\nnn\r\n>b\r\ngg") == expected);
    CHECK(documents_of(gzip(TemporaryFolder(), "; from a sequencer\n>a first\nACGT\nnn\n>b\ngg\n")) == expected);
    for (const char* text :
         {"> quoted text\n\nAn answer\n", ">>> print(1)\n1\n", ">name\nnot letters only\n", "ACGT\nACGT\n", ">a\n>b\n"})
        CHECK_FALSE(is_fasta(text));
    CHECK(documents_of("> quoted text\n\nAn answer\n") == Lines{"1||> quoted text", "3||An answer"});
}

TEST_CASE("a long FASTA sequence becomes several documents that hold each letter once") {
    std::string sequence, joined;
    for (std::uint64_t i = 0; i < 250'000; ++i) sequence += "ACGT"[(i * i + i / 7) % 4];
    const DocumentBatch batch = records_of(">chr1 x\n" + sequence + "\n>chr2\nAC\n", 65'536, true);
    REQUIRE(batch.documents.size() == 4);
    for (std::size_t d = 0; d < 3; ++d) {
        CHECK(batch.documents[d].id == (d == 0 ? "chr1" : "chr1:" + std::to_string(d * 100'000 + 1)));
        for (const char c : batch.documents[d].text)
            if (c != ' ' && c != '\n') joined += c;
    }
    CHECK((joined == sequence));
    CHECK(batch.documents[3].text == "A C\n");
}

TEST_CASE(
    "FASTA records without a sequence, or with other characters than letters, are malformed, and FASTQ is refused by name") {
    const auto failure = [](const std::string& file) {
        try {
            documents_of(file);
        } catch (const DataError& error) { return std::string(error.what()); }
        return std::string("nothing was refused");
    };
    const std::string bad =
        failure(">a\nACGT\n>b\n>c\nAC\nG\n>d\nA\n" + std::string(3000, 'A') + "\n" + std::string(3000, 'A') + "\nA1\n");
    CHECK_THAT(bad, Contains("corpus:3: has no sequence after its header"));
    CHECK_THAT(bad, Contains("corpus:7: has \"1\" in the sequence on line 11, expected letters, \"*\", \"-\" and \".\""));
    CHECK_THAT(failure("@r1\nACGT\n+\nIIII\n"), Contains("is FASTQ"));
    InputSettings settings;
    settings.format = "fasta";
    settings.most_bad = 1;
    CHECK(documents_of("ACGT\n>a\nAC\n", settings) == Lines{"2|a|A C"});
}

TEST_CASE("letters of any text can be set apart, and FASTA's left together") {
    CHECK(letters_apart("MKV rä\n\nA\n") == "M K V r ä\n\nA\n");
    InputSettings settings;
    settings.letters = "apart";
    settings.text_field = "seq";
    CHECK(documents_of("id,seq\n1,MKV.\n2,AC D\n", settings) == Lines{"2||M K V .", "3||A C D"});
    settings.letters = "together";
    CHECK(documents_of(">a\nAC\nGT\n", settings) == Lines{"1|a|ACGT"});
}
