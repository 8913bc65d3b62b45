#include "text/formats/document_parsers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/strings.h"
#include "core/utf8_check.h"
#include "text/formats/table_records.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

class PlainDocuments {
public:
    PlainDocuments(const TextChunk& chunk, TextLayout::Documents documents, DocumentBatch& batch)
        : rest_(chunk.text), line_(chunk.first_line), documents_(documents), batch_(batch) {}

    void run() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size() - 1) + 1;
            add_line(rest_.substr(0, end));
            rest_.remove_prefix(end);
            ++line_;
        }
        end_document();
    }

private:
    void add_line(std::string_view line) {
        using Documents = TextLayout::Documents;
        const bool is_blank = is_blank_line(line);
        if (is_blank && documents_ == Documents::empty_lines) return end_document();
        if (is_blank && text_.empty()) return;
        if (text_.empty()) begin_ = line_;
        text_.append(line);
        if (documents_ == Documents::lines) end_document();
    }

    void end_document() {
        if (text_.empty()) return;
        batch_.documents.push_back({begin_, {}, std::exchange(text_, {})});
    }

    std::string_view rest_;
    std::uint64_t line_, begin_ = 0;
    TextLayout::Documents documents_;
    DocumentBatch& batch_;
    std::string text_;
};

/// Whether a record is the header of another table that was appended to the first, whose first name may have a byte order mark.
bool is_header(const std::vector<std::string>& values, const TableColumns& columns) {
    if (values.size() != columns.count || columns.count < 2) return false;
    std::string_view first = values.front();
    if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
    return first == columns.names.front() && std::equal(values.begin() + 1, values.end(), columns.names.begin() + 1);
}

std::string problem_of_record(const TableRecord& record, const std::vector<std::string>& values, const TableColumns& columns) {
    if (record.fault != nullptr) return record.fault;
    if (is_header(values, columns)) return "repeats the header, as where tables are joined; remove this line";
    if (values.size() != columns.count)
        return concat("has ", values.size(), " fields, expected ", columns.count,
                      columns.delimiter == '\t' ? "; in TSV a line is a record, also where a quote is open" : "");
    const bool is_text = std::ranges::all_of(columns.texts, [&](std::size_t column) { return is_utf8(values[column]); });
    return is_text ? "" : "its text is not UTF-8; --encoding names another encoding";
}

std::string text_of_record(std::vector<std::string>& values, const TableColumns& columns) {
    std::string text = std::move(values[columns.texts.front()]);
    for (std::size_t i = 1; i < columns.texts.size(); ++i) text.append("\n").append(values[columns.texts[i]]);
    return text;
}

}  // namespace

void parse_plain_text(const TextChunk& chunk, TextLayout::Documents documents, DocumentBatch& batch) {
    PlainDocuments(chunk, documents, batch).run();
}

TableColumns read_header(const std::string& header, char delimiter, const RecordFields& fields, const std::string& file) {
    std::vector<std::string> names;
    read_table_record(header, 0, delimiter, &names);
    const auto column_of = [&](const std::string& name, const char* option) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end())
            throw DataError(concat(file, ":1: has no column \"", name, "\", only: ", displayable(join(names).substr(0, 200)),
                                   "\n  do: name the column with ", option, ", or pass --format text if this is no table"));
        if (std::find(found + 1, names.end(), name) != names.end())
            throw DataError(concat(file, ":1: has several columns \"", displayable(name),
                                   "\"\n  do: give them different names, or ", "name another column with ", option));
        return static_cast<std::size_t>(found - names.begin());
    };
    TableColumns columns{names.size(), {}, {}, delimiter, names};
    const auto is_column = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
    for (const std::string& name : text_fields(fields.text, is_column)) columns.texts.push_back(column_of(name, "--text-field"));
    if (!fields.id.empty()) columns.id = column_of(fields.id, "--id-field");
    return columns;
}

void parse_table(const TextChunk& chunk, const TableColumns& columns, DocumentBatch& batch) {
    std::vector<std::string> values;
    std::uint64_t number = chunk.first_line;
    const std::string_view text = chunk.text;
    for (std::size_t begin = 0; begin < text.size();) {
        const TableRecord record = read_table_record(text, begin, columns.delimiter, &values);
        const std::string_view whole = text.substr(begin, record.end - begin);
        begin = record.end;
        if (whole.find_first_not_of("\r\n") != std::string_view::npos) {
            ++batch.records;
            std::string problem = problem_of_record(record, values, columns);
            if (!problem.empty()) batch.bad.push_back({number, std::move(problem)});
            else {
                std::string id = columns.id ? values[*columns.id] : "";
                batch.documents.push_back({number, std::move(id), text_of_record(values, columns)});
            }
        }
        number += static_cast<std::uint64_t>(std::count(whole.begin(), whole.end(), '\n'));
    }
}

}  // namespace bertpretrain
