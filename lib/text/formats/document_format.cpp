#include "text/formats/document_format.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/output/displayable.h"
#include "core/utf8_check.h"
#include "text/content/byte_order_mark.h"
#include "text/content/open_content.h"
#include "text/formats/fasta_records.h"
#include "text/formats/foreign_file.h"
#include "text/formats/json_shape.h"
#include "text/formats/markup_start.h"
#include "text/formats/record_fields.h"
#include "text/formats/separator_line.h"
#include "text/formats/table_records.h"
#include "text/line_ends.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

using Kind = DocumentFormat::Kind;
constexpr std::size_t few_bytes = 4096;  // enough for a table's first records

/// Whether many bytes are control characters, which no text has.
bool is_binary(std::string_view head) {
    const auto control = std::count_if(head.begin(), head.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x1B && ascii_white_space.find(c) == std::string_view::npos && c != 0x08;
    });
    return static_cast<std::size_t>(control) * 32 > head.size();
}

/// Whether the bytes are UTF-8 without zeros, which --format text may force to be read.
bool is_whole_text(std::string_view head) {
    return head.find('\0') == std::string_view::npos && is_utf8(head.substr(0, whole_characters(head)));
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

bool ends_in(std::string_view name, std::initializer_list<std::string_view> endings) {
    for (const std::string_view packed : {".gz", ".bz2", ".zst"})
        if (name.ends_with(packed)) name.remove_suffix(packed.size());
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

/// A name such as genome.fna.gz suffices for a file with a header whose sequences are malformed.
bool begins_as_fasta(std::string_view head, const std::string& name) {
    return is_fasta(head) || (head.starts_with('>') && ends_in(name, {".fasta", ".fa", ".fna", ".faa", ".ffn", ".frn", ".fas"}));
}

bool ends_in_table(std::string_view name) { return ends_in(name, {".csv", ".tsv"}); }

/// Returns the delimiter of a table, or 0. @param named by a separator line before `head`; nullopt: there is none
char delimiter_of(std::string_view head, const std::string& name, const std::string& text_field, std::optional<char> named) {
    const std::string delimiters = named ? std::string(1, *named) : "\t,;";
    for (const char delimiter : delimiters) {
        std::vector<std::string> fields;
        read_table_record(head, 0, delimiter, &fields);
        const auto is_there = [&](const std::string& wanted) { return std::ranges::find(fields, wanted) != fields.end(); };
        const bool has_text = std::ranges::any_of(text_fields(text_field, is_there), is_there);
        if (has_text && (fields.size() > 1 || named || ends_in_table(name))) return delimiter;
    }
    for (const char delimiter : delimiters)
        if (is_regular_table(head, delimiter)) return delimiter;
    const std::string_view first_line = head.substr(0, head.find('\n'));
    if (!ends_in_table(name)) return 0;
    if (named) return *named;
    return first_line.find('\t') != std::string_view::npos ? '\t' : first_line.find(',') == std::string_view::npos ? ';' : ',';
}

/// Returns the separator that a first line "sep=;" names. @param is_table whether the file is one by its name, or by --format
/// @throws DataError for another separator than ours, or than that of `asked`, the settings' format
std::optional<char> named_separator(const std::optional<SeparatorLine>& line, const std::string& name, const std::string& asked,
                                    bool is_table) {
    if (!line || (line->separator == 0 && !is_table)) return std::nullopt;
    if (line->separator == 0)
        throw DataError(concat(name, ":1: \"", displayable(line->line), "\" names a separator that is not supported; expected a ",
                               "comma, a semicolon or a tab\n  do: write the table with one of these, or remove the line"));
    if (asked == "tsv" && line->separator != '\t')
        throw DataError(concat(name, ":1: \"", displayable(line->line), "\" names another separator than --format tsv",
                               "\n  do: pass --format csv, or leave --format out"));
    return line->separator;
}

[[noreturn]] void refuse(const std::string& name, const ForeignFile& found) {
    throw DataError(concat(refusal_of(name, found, "text, JSONL, CSV, TSV, Parquet, FASTA or a Wikipedia dump"),
                           found.is_text ? ". `--format text` reads it as plain text all the same" : ""));
}

/// What zeros in every second or fourth place show.
ForeignFile binary_file(std::string_view head) {
    std::size_t zeros[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < head.size() - head.size() % 4; ++i) zeros[i % 4] += head[i] == '\0' ? 1U : 0U;
    const auto most = [&](std::size_t place) { return 8 * zeros[place] > head.size(); };
    const auto few = [&](std::size_t place) { return 64 * zeros[place] <= head.size(); };
    if (most(2) && most(3) && few(0)) return {"UTF-32 without a byte order mark", "name its encoding: `--encoding utf-32le`"};
    if (most(0) && most(1) && few(3)) return {"UTF-32 without a byte order mark", "name its encoding: `--encoding utf-32be`"};
    if (most(1) && most(3) && few(0)) return {"UTF-16 without a byte order mark", "name its encoding: `--encoding utf-16le`"};
    if (most(0) && most(2) && few(1)) return {"UTF-16 without a byte order mark", "name its encoding: `--encoding utf-16be`"};
    return {"a binary file", "give a text file; name the encoding if it is text, for example `--encoding utf-16le`"};
}

std::optional<ForeignFile> refused_json(JsonShape shape) {
    switch (shape) {
        case JsonShape::array:
            return ForeignFile{"one JSON array", "write one object per line, for example with `jq -c '.[]' FILE`", true};
        case JsonShape::several_lines:
            return ForeignFile{"JSON whose objects do not stand one per line", "write them so, for example with `jq -c . FILE`",
                               true};
        case JsonShape::commas:
            return ForeignFile{"JSON with commas between its objects", "remove them, for example with `sed 's/, *$//' FILE`",
                               true};
        case JsonShape::arrays:
            return ForeignFile{"JSON with an array per line",
                               "write objects, for example with `jq -c '{text: .[1]}' FILE` if the text is the second value",
                               true};
        case JsonShape::strings:
            return ForeignFile{"JSON with a string per line", "write objects, for example with `jq -c '{text: .}' FILE`", true};
        case JsonShape::not_quite:
            return ForeignFile{"lines that resemble JSON objects but are not JSON (Python's json.loads refuses them, too)",
                               "write them with a JSON library, such as Python's json.dumps", true};
        default:
            return std::nullopt;
    }
}

std::optional<ForeignFile> refused_markup(Markup markup) {
    switch (markup) {
        case Markup::abstracts:
            return ForeignFile{"MediaWiki's feed of abstracts, not of texts", "pass the pages-articles.xml.bz2 of the same dump",
                               true};
        case Markup::html:
            return ForeignFile{"an HTML page", "extract its text first", true};
        case Markup::xml:
            return ForeignFile{"XML, but no MediaWiki dump", "extract its text first", true};
        case Markup::store_error:
            return ForeignFile{"the error message of an object store instead of a file", "download the file again", true};
        case Markup::cut_dump:
            return ForeignFile{"a piece of a MediaWiki dump that begins inside a page",
                               "pass the whole dump, or pieces that begin with <page>", true};
        case Markup::cut_docs:
            return ForeignFile{"a piece of WikiExtractor's output that begins inside a document",
                               "pass the whole file, or pieces that begin with <doc>", true};
        default:
            return std::nullopt;
    }
}

/// A list of tokens as BERT's, which begins with a special token on a line of its own.
std::optional<ForeignFile> vocabulary_file(std::string_view head) {
    if (!head.starts_with("[PAD]\n") && !head.starts_with("[PAD]\r")) return std::nullopt;
    return ForeignFile{"a vocabulary, with a token per line", "give the text here; commands take a vocabulary by --vocabulary",
                       true};
}

/// Files that are no text in any encoding; text that stands for something else; and pieces of dumps.
void refuse_unreadable(std::string_view head, const std::string& name, Markup markup, bool is_forced) {
    const auto judge = [&](const std::optional<ForeignFile>& found) {
        if (found && !(found->is_text && is_forced)) refuse(name, *found);
    };
    judge(foreign_file(head));
    judge(foreign_compression(head));
    judge(vocabulary_file(head));
    if (is_compressed(head)) refuse(name, {"compressed twice", "unpack it once yourself, and give what comes out"});
    const std::string_view few = head.substr(0, few_bytes);
    if (is_binary(few) && !(is_forced && is_whole_text(few))) refuse(name, binary_file(few));
    judge(refused_markup(markup));
}

}  // namespace

bool is_parquet(std::string_view head) { return head.starts_with("PAR1"); }

DocumentFormat format_of(std::string_view head, const std::string& name, const InputSettings& settings) {
    const bool is_whole = head.size() < format_head_bytes;
    if (head.starts_with(utf8_mark)) head.remove_prefix(utf8_mark.size());
    const std::string_view raw = head;
    std::string converted;
    if (head.find('\r') != std::string_view::npos) head = converted = with_newlines(std::string(head));
    const std::string& asked = settings.format;
    const Markup markup = markup_of(head);
    const bool is_wikipedia = markup == Markup::dump || markup == Markup::doc_elements;
    if (asked == "wikipedia" || (asked == "auto" && is_wikipedia)) return {.kind = Kind::wikipedia};
    if (is_parquet(head) && (asked == "parquet" || asked == "auto")) return {.kind = Kind::parquet};
    if (is_parquet(head)) refuse(name, {"a Parquet file", "leave out --format"});
    refuse_unreadable(raw, name, markup, asked == "text");
    if (asked == "parquet")
        throw DataError(concat(name, ": is not a Parquet file, which would begin with \"PAR1\"\n  do: leave out --format"));
    std::string_view few = head.substr(0, few_bytes);
    if (asked == "fasta" || (asked == "auto" && begins_as_fasta(few, name))) return {.kind = Kind::fasta};
    if (asked == "auto" && is_fastq(few))
        refuse(name, {"FASTQ, whose qualities are no text", "make FASTA of it, for example with `sed -n '1~4s/^@/>/p;2~4p' FILE`",
                      true});
    if (asked == "text") return {.kind = Kind::text};
    const auto named = named_separator(separator_line(few), name, asked, asked == "csv" || asked == "tsv" || ends_in_table(name));
    if (named) few.remove_prefix(begin_of_header(few));
    if (asked == "tsv") return {.kind = Kind::table, .delimiter = '\t'};
    const char delimiter = delimiter_of(few, name, settings.text_field, named);
    if (asked == "csv") return {Kind::table, named ? *named : delimiter == ';' ? ';' : ','};
    const JsonShape json = json_shape(head, is_whole);
    if (json == JsonShape::sequence) return {.kind = Kind::jsonl, .delimiter = '\x1E'};
    const bool is_named_jsonl = asked == "jsonl" || ends_in(name, {".jsonl", ".ndjson", ".jsonlines"});
    if (json == JsonShape::lines || (is_named_jsonl && (json == JsonShape::none || json == JsonShape::not_quite)))
        return {.kind = Kind::jsonl, .delimiter = '\n'};
    if (const auto refused = refused_json(json)) refuse(name, *refused);
    if (delimiter != 0) return {.kind = Kind::table, .delimiter = delimiter};
    return {.kind = Kind::text};
}

bool has_own_encoding(std::string_view head, const std::string& name, const InputSettings& settings) {
    if (settings.format != "auto") return settings.format == "wikipedia" || settings.format == "parquet";
    try {
        const DocumentFormat::Kind kind = format_of(head, name, settings).kind;
        return kind == DocumentFormat::Kind::wikipedia || kind == DocumentFormat::Kind::parquet;
    } catch (const DataError&) { return false; }
}

std::string_view name_of(DocumentFormat::Kind kind) {
    constexpr std::string_view names[] = {"plain text", "JSONL", "CSV or TSV", "Parquet", "a Wikipedia dump", "FASTA"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace bertpretrain
