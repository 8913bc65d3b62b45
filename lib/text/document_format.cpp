#include "text/document_format.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "text/table_records.h"

namespace bertpretrain {
namespace {

using namespace std::string_view_literals;
using Kind = DocumentFormat::Kind;
constexpr std::string_view white_space = " \t\r\n\v\f";

struct Unreadable {
    std::string_view begin, name, do_this;
};

constexpr std::string_view to_utf8 = "name its encoding, for example `--encoding utf-16`";
constexpr std::string_view to_text = "convert it to text";
constexpr std::string_view to_lines = "write one object per line, for example with `jq -c .[] FILE`";

constexpr Unreadable unreadable[] = {
    {"PAR1"sv, "a Parquet file", "leave out --format"},
    {"PARE"sv, "an encrypted Parquet file", "write it without encryption"},
    {"\x89HDF\r\n"sv, "an HDF5 file", "give the text that it was made from"},
    {"\xFF\xFE"sv, "UTF-16 text", to_utf8},
    {"\xFE\xFF"sv, "UTF-16 text", to_utf8},
    {"%PDF-"sv, "a PDF file", to_text},
    {"ARROW1"sv, "an Arrow file", "convert it to JSONL"},
    {"Obj\x01"sv, "an Avro file", "convert it to JSONL"},
    {"SQLite format 3"sv, "an SQLite database", "export its text as CSV"},
};

std::string_view trimmed_start(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(white_space), text.size()));
}

bool starts_with_any_case(std::string_view text, std::string_view lower) {
    return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
               return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
           });
}

bool is_wikipedia(std::string_view text) {
    if (text.starts_with("\xFF\xFE<\0"sv) || text.starts_with("\xFE\xFF\0<"sv)) return true;  // a dump in UTF-16
    const auto begins = [&](std::string_view mark) { return text.starts_with(mark); };
    constexpr std::string_view marks[] = {"<mediawiki", "<?xml", "<doc ", "<page", "<siteinfo", "<!DOCTYPE m", "<!--"};
    return std::any_of(std::begin(marks), std::end(marks), begins);
}

/// Whether the text begins with an object's first key: `{"key":`, or is an empty object.
bool is_json_object(std::string_view text) {
    if (!text.starts_with('{')) return false;
    const std::size_t key = text.find_first_not_of(white_space, 1);
    if (key == std::string_view::npos) return false;
    if (text[key] == '}') return true;
    if (text[key] != '"') return false;
    std::size_t end = key + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2U : 1U;
    const std::size_t colon = end < text.size() ? text.find_first_not_of(" \t", end + 1) : end;
    return colon < text.size() && text[colon] == ':';
}

/// Whether many bytes are control characters, which no text has.
bool is_binary(std::string_view head) {
    const auto control = std::count_if(head.begin(), head.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && white_space.find(c) == std::string_view::npos && c != 0x1B && c != 0x08;
    });
    return static_cast<std::size_t>(control) * 32 > head.size();
}

bool is_name(std::string_view field) {
    return !field.empty() && field.size() <= 64 && std::all_of(field.begin(), field.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    });
}

/// Whether the first record has only names, at least two, and all other records, at least two, have as many fields.
bool is_regular_table(std::string_view head, char delimiter) {
    std::vector<std::string> fields;
    TableRecord record = read_table_record(head, 0, delimiter, &fields);
    const std::size_t columns = fields.size();
    if (record.fault || columns < 2 || !std::all_of(fields.begin(), fields.end(), is_name)) return false;
    std::size_t records = 0;
    while (record.end < head.size()) {
        record = read_table_record(head, record.end, delimiter, &fields);
        if (record.is_cut) break;
        if (record.fault || fields.size() != columns) return false;
        ++records;
    }
    return records >= 2;
}

bool ends_in_table(std::string_view name) {
    for (const std::string_view packed : {".gz", ".bz2", ".zst"})
        if (name.ends_with(packed)) name.remove_suffix(packed.size());
    return name.ends_with(".csv") || name.ends_with(".tsv");
}

/// Returns the delimiter of a table, or 0.
char delimiter_of(std::string_view head, const std::string& name, const std::string& text_field) {
    constexpr std::string_view delimiters = "\t,;";
    for (const char delimiter : delimiters) {
        std::vector<std::string> fields;
        read_table_record(head, 0, delimiter, &fields);
        const bool has_text = std::find(fields.begin(), fields.end(), text_field) != fields.end();
        if (has_text && (fields.size() > 1 || ends_in_table(name))) return delimiter;
    }
    for (const char delimiter : delimiters)
        if (is_regular_table(head, delimiter)) return delimiter;
    const std::string_view first_line = head.substr(0, head.find('\n'));
    if (!ends_in_table(name)) return 0;
    return first_line.find('\t') != std::string_view::npos ? '\t' : first_line.find(',') == std::string_view::npos ? ';' : ',';
}

void refuse_unreadable(std::string_view head, const std::string& name) {
    const auto refuse = [&](std::string_view format, std::string_view do_this) {
        throw DataError(
            concat(name, ": is ", format, ", expected text, JSONL, CSV, TSV, Parquet or a Wikipedia dump\n  do: ", do_this));
    };
    for (const Unreadable& format : unreadable)
        if (head.starts_with(format.begin)) refuse(format.name, format.do_this);
    if (head.size() > 262 && head.substr(257, 5) == "ustar") refuse("a tar archive", "unpack it into a folder and give that");
    if (is_binary(head)) refuse("a binary file", "give a text file; name the encoding if it is text: `--encoding utf-16le`");
    const std::string_view text = trimmed_start(head);
    if (starts_with_any_case(text, "<!doctype html") || starts_with_any_case(text, "<html")) refuse("an HTML page", to_text);
    if (!text.starts_with('[')) return;
    const std::string_view first = trimmed_start(text.substr(1));
    if (is_json_object(first)) refuse("one JSON array", to_lines);
}

}  // namespace

bool is_parquet(std::string_view head) { return head.starts_with("PAR1"); }

DocumentFormat format_of(std::string_view head, const std::string& name, const InputSettings& settings) {
    if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
    const std::string& asked = settings.format;
    if (asked == "wikipedia" || (asked == "auto" && is_wikipedia(trimmed_start(head)))) return {Kind::wikipedia};
    if (is_parquet(head) && (asked == "parquet" || asked == "auto")) return {Kind::parquet};
    refuse_unreadable(head, name);
    if (asked == "parquet")
        throw DataError(concat(name, ": is not a Parquet file, which would begin with \"PAR1\"\n  do: leave out --format"));
    if (asked == "text") return {Kind::text};
    if (asked == "jsonl") return {Kind::jsonl};
    if (asked == "tsv") return {Kind::table, '\t'};
    const char delimiter = delimiter_of(head, name, settings.text_field);
    if (asked == "csv") return {Kind::table, delimiter == ';' ? ';' : ','};
    if (is_json_object(trimmed_start(head))) return {Kind::jsonl};
    if (delimiter != 0) return {Kind::table, delimiter};
    return {Kind::text};
}

std::string_view name_of(DocumentFormat::Kind kind) {
    constexpr std::string_view names[] = {"plain text", "JSONL", "CSV or TSV", "Parquet", "a Wikipedia dump"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace bertpretrain
