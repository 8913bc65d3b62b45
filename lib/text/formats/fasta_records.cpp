#include "text/formats/fasta_records.h"

#include <algorithm>
#include <utility>

#include "core/concat.h"
#include "core/output/displayable.h"
#include "text/letters.h"

namespace bertpretrain {
namespace {

constexpr std::string_view blanks = " \t\v\f";
constexpr std::size_t most_header = 4096;  // bytes of a header line that are looked at

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_residue(char c) { return is_letter(c) || c == '*' || c == '-' || c == '.'; }

char capital(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Takes the next line from `text`. @returns whether a line break ends it
bool take_line(std::string_view& text, std::string_view& line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool is_whole = end < text.size();
    line = text.substr(0, end);
    text.remove_prefix(is_whole ? end + 1 : end);
    return is_whole;
}

}  // namespace

bool is_fasta(std::string_view head) {
    bool has_header = false, has_letters = false;
    for (std::string_view line; !head.empty();) {
        take_line(head, line);
        if (line.empty() || line.front() == ';') continue;
        if (line.front() == '>') {
            if (line.size() < 2 || blanks.find(line[1]) != std::string_view::npos) return false;
            has_header = true;
        } else if (!has_header || !std::ranges::all_of(line, is_residue) || !std::ranges::any_of(line, is_letter)) {
            return false;
        } else {
            has_letters = true;
        }
    }
    return has_letters;
}

bool is_fastq(std::string_view head) {
    std::string_view name, letters, plus, quality;
    return take_line(head, name) && take_line(head, letters) && take_line(head, plus) &&
           (take_line(head, quality) || !quality.empty()) && name.starts_with('@') && plus.starts_with('+') &&
           letters.size() == quality.size() && !letters.empty() && std::ranges::all_of(letters, is_residue);
}

void FastaRecords::add(std::string_view text, DocumentBatch& batch) {
    while (!text.empty()) {
        if (kind_ == LineKind::unknown && text.front() != '\n') {
            kind_ = text.front() == '>' ? LineKind::header : text.front() == ';' ? LineKind::comment : LineKind::sequence;
            if (kind_ == LineKind::header) end_record(batch);
        }
        std::string_view part;
        const bool is_whole = take_line(text, part);
        if (kind_ == LineKind::header) header_.append(part.substr(0, most_header - std::min(most_header, header_.size())));
        if (kind_ == LineKind::sequence) add_letters(part, batch);
        if (is_whole) end_line(batch);
    }
}

void FastaRecords::end_line(DocumentBatch& batch) {
    if (kind_ == LineKind::header) begin_record(batch);
    kind_ = LineKind::unknown;
    ++line_;
}

void FastaRecords::finish(DocumentBatch& batch) {
    end_line(batch);
    end_record(batch);
}

void FastaRecords::begin_record(DocumentBatch& batch) {
    ++batch.records;
    has_record_ = true;
    record_line_ = line_;
    const std::string header = std::exchange(header_, {});
    const std::size_t begin = std::min(header.find_first_not_of(blanks, 1), header.size());
    id_ = header.substr(begin, std::min(header.find_first_of(blanks, begin), header.size()) - begin);
}

void FastaRecords::end_record(DocumentBatch& batch) {
    if (has_record_ && !is_bad_) {
        if (!letters_.empty()) add_document(batch);
        else if (first_letter_ == 1) refuse("has no sequence after its header", batch);
    }
    letters_.clear();
    first_letter_ = 1;
    has_record_ = is_bad_ = false;
}

void FastaRecords::add_letters(std::string_view letters, DocumentBatch& batch) {
    for (const char c : letters) {
        if (is_bad_) return;
        if (blanks.find(c) != std::string_view::npos) continue;
        if (!has_record_) {
            ++batch.records;
            record_line_ = line_;
            return refuse("stands before the first header, which would begin with \">\"", batch);
        }
        if (!is_residue(c))
            return refuse(concat("has \"", displayable(std::string_view(&c, 1)), "\" in the sequence on line ", line_,
                                 ", expected letters, \"*\", \"-\" and \".\""),
                          batch);
        letters_ += capital(c);
        if (letters_.size() == most_letters) add_document(batch);
    }
}

void FastaRecords::add_document(DocumentBatch& batch) {
    const std::size_t count = letters_.size();
    std::string text = letters_apart_ ? letters_apart(letters_) : letters_;
    batch.documents.push_back({record_line_, first_letter_ == 1 ? id_ : concat(id_, ":", first_letter_), std::move(text) + "\n"});
    first_letter_ += count;
    letters_.clear();
}

void FastaRecords::refuse(std::string problem, DocumentBatch& batch) {
    batch.bad.push_back({record_line_, std::move(problem)});
    is_bad_ = true;
}

}  // namespace bertpretrain
