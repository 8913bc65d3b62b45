#include "text/formats/foreign_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>

#include "core/concat.h"
#include "text/formats/json_shape.h"
#include "text/formats/markup_start.h"

namespace bertpretrain {
namespace {

using namespace std::string_view_literals;

struct Magic {
    std::string_view begin;
    ForeignFile file;
    std::size_t offset = 0;
};

constexpr std::string_view to_text = "convert it to text", to_jsonl = "convert it to JSONL";
constexpr std::string_view fetch_by_lfs = "fetch the file itself: run `git lfs install` and `git lfs pull` in its repository";
constexpr std::string_view from_arrow =
    "convert it to JSONL; a folder of `save_to_disk` with Python: datasets.load_from_disk(FOLDER).to_json(\"corpus.jsonl\")";
constexpr std::string_view from_warc =
    "write the records' texts to a file without their headers, for example with the Python package warcio; a WARC file of whole "
    "pages (not .wet) needs its HTML removed, too";

constexpr Magic pointer_marks[] = {
    {"version https://git-lfs.github.com/spec/", {"a Git LFS pointer, which stands for the file", fetch_by_lfs, true}},
    {"version https://hawser.github.com/spec/", {"a Git LFS pointer, which stands for the file", fetch_by_lfs, true}},
    {"/annex/objects/",
     {"a git-annex pointer, which stands for the file", "fetch the file itself with `git annex get FILE`", true}},
};

constexpr Magic foreign_marks[] = {
    {"WARC/", {"a WARC file (Common Crawl's .warc, .wet and .wat)", from_warc, true}},
    {"filedesc://", {"an ARC file of web pages", to_text, true}},
    {"\xFF\xFF\xFF\xFF", {"an Arrow stream", from_arrow}},
    {"ARROW1", {"an Arrow file", from_arrow}},
    {"FEA1", {"a Feather file, an early Arrow file", to_jsonl}},
    {"PARE", {"an encrypted Parquet file", "write it without encryption"}},
    {"ORC", {"an ORC file", to_jsonl}},
    {"Obj\x01", {"an Avro file", to_jsonl}},
    {"SEQ\x06", {"a Hadoop sequence file", to_jsonl}},
    {"\x89HDF\r\n", {"an HDF5 file", "give the text that it was made from"}},
    {"CDF\x01", {"a NetCDF file", to_text}},
    {"SQLite format 3", {"an SQLite database", "export its text as CSV"}},
    {"%PDF-", {"a PDF file", to_text}},
    {"{\\rtf", {"an RTF document", to_text, true}},
    {"\xD0\xCF\x11\xE0", {"a Microsoft Office file of the old kind (.doc, .xls)", to_text}},
    {"\x93NUMPY", {"a NumPy array", "give the text that it was made from"}},
    {"\x7F"
     "ELF",
     {"a program", "give a text file"}},
    {"\x89PNG", {"a PNG image", "give a text file"}},
    {"\xFF\xD8\xFF", {"a JPEG image", "give a text file"}},
    {"GIF8", {"a GIF image", "give a text file"}},
    {"GGUF", {"a GGUF model", "use the model in Hugging Face's format"}},
    {"ustar", {"a tar archive", "unpack it into a folder and give that"}, 257},
};

constexpr Magic packed_marks[] = {
    {"\xFD"
     "7zXZ",
     {"compressed with xz", "unpack it first: `xz -dk FILE`"}},
    {"7z\xBC\xAF", {"a 7z archive", "unpack it first: `7z x FILE`"}},
    {"PK\x03\x04", {"a zip archive (.docx, .xlsx, .epub and .npz files are such, too)", "unpack it first"}},
    {"PK\x05\x06", {"an empty zip archive", "get the file again"}},
    {"Rar!\x1A", {"a RAR archive", "unpack it first"}},
    {"\x04\x22\x4D\x18", {"compressed with lz4", "unpack it first: `lz4 -d FILE`"}},
    {"\xFF\x06\0\0sNaPpY"sv, {"compressed with Snappy", "unpack it first"}},
    {"LZIP", {"compressed with lzip", "unpack it first: `lzip -dk FILE`"}},
    {"\x1F\x9D", {"compressed with compress (.Z)", "unpack it first: `uncompress FILE`"}},
    {"\x5D\0\0"sv, {"compressed with lzma", "unpack it first: `xz -dk FILE`"}},
    {"\x89LZO", {"compressed with lzop", "unpack it first: `lzop -d FILE`"}},
};

std::optional<ForeignFile> marked_file(std::string_view head, std::span<const Magic> marks) {
    for (const Magic& mark : marks)
        if (head.size() >= mark.offset && head.substr(mark.offset).starts_with(mark.begin)) return mark.file;
    return std::nullopt;
}

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 && std::string_view("\t\n\v\f\r\x1B").find(c) == std::string_view::npos;
}

/// Whether the file is text that begins with the letters of a mark, such as "ORCHARDS": a binary file has control characters.
bool is_only_a_word(std::string_view head, const ForeignFile& found) {
    if (found.name.starts_with("a WARC")) return head.size() > 5 && (head[5] < '0' || head[5] > '9');
    return !found.is_text && head.front() >= 'A' && head.front() <= 'Z' && std::none_of(head.begin(), head.end(), is_control);
}

std::optional<ForeignFile> unless_text(std::string_view head, std::optional<ForeignFile> found) {
    return found && is_only_a_word(head, *found) ? std::nullopt : found;
}

}  // namespace

std::optional<ForeignFile> foreign_file(std::string_view head) {
    const std::optional<ForeignFile> pointer = marked_file(head, pointer_marks);
    return pointer ? pointer : unless_text(head, marked_file(head, foreign_marks));
}

std::optional<ForeignFile> foreign_compression(std::string_view head) {
    return unless_text(head, marked_file(head, packed_marks));
}

std::optional<ForeignFile> known_file(std::string_view head) {
    constexpr std::string_view give_other = "give the file that is expected here", get_again = "get the file again";
    if (head.empty()) return ForeignFile{"empty", get_again};
    if (const auto found = marked_file(head, pointer_marks)) return found;
    if (const auto found = foreign_file(head)) return ForeignFile{found->name, give_other};
    if (const auto found = foreign_compression(head)) return found;
    if (head.starts_with("\x1F\x8B")) return ForeignFile{"compressed with gzip", "unpack it first: `gzip -dk FILE`"};
    if (head.starts_with("BZh")) return ForeignFile{"compressed with bzip2", "unpack it first: `bzip2 -dk FILE`"};
    if (head.starts_with("\x28\xB5\x2F\xFD")) return ForeignFile{"compressed with zstd", "unpack it first: `zstd -d FILE`"};
    if (head.starts_with("PAR1")) return ForeignFile{"a Parquet file", give_other};
    const Markup markup = markup_of(head);
    if (markup == Markup::html) return ForeignFile{"an HTML page, perhaps the answer of a server that wants a login", get_again};
    if (markup == Markup::store_error) return ForeignFile{"the error message of an object store", get_again};
    if (markup == Markup::dump || markup == Markup::xml) return ForeignFile{"XML", give_other};
    if (begins_json_object(head)) return ForeignFile{"JSON", give_other};
    return std::nullopt;
}

std::optional<ForeignFile> known_file_at(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string head(foreign_head_bytes, '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    if (in.bad() || (!in.is_open())) return std::nullopt;
    head.resize(static_cast<std::size_t>(in.gcount()));
    return known_file(head);
}

std::string refusal_of(const std::string& file, const ForeignFile& found, std::string_view expected) {
    return concat(file, ": is ", found.name, ", expected ", expected, "\n  do: ", found.advice);
}

}  // namespace bertpretrain
