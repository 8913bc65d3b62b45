#include "inference/text_lines.h"

#include <fstream>
#include <memory>

#include "archive/checksum.h"
#include "archive/text_ids.h"
#include "core/error.h"
#include "core/files/input_file.h"
#include "core/utf8_check.h"
#include "text/content/byte_order_mark.h"
#include "text/reader/plain_text.h"
#include "text/reader/read_text.h"
#include "tokens/training/line_blocks.h"

namespace bertpretrain {
namespace {

/// Returns the line without the "\r" of a line end "\r\n".
std::string_view without_return(std::string_view line) { return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line; }

/// Whether a "\r" stands inside a line.
bool has_lone_return(std::string_view block) {
    for (std::size_t at = block.find('\r'); at != block.npos; at = block.find('\r', at + 1))
        if (at + 1 < block.size() && block[at + 1] != '\n') return true;
    return false;
}

void add_line(TextSurvey& text, std::string_view line, const PartSize& size) {
    if (text.parts.empty() || text.parts.back().lines >= size.lines || text.parts.back().bytes >= size.bytes) {
        const std::uint64_t offset = text.parts.empty() ? 0 : text.parts.back().offset + text.parts.back().bytes;
        text.parts.push_back({offset, 0, text.lines, 0});
    }
    text.parts.back().bytes += line.size() + 1;
    ++text.parts.back().lines;
    ++text.lines;
}

}  // namespace

TextSurvey survey_text(const std::filesystem::path& file, const PartSize& size) {
    TextSurvey text{.file = file, .name = file.string()}, must_convert{.file = file, .must_convert = true};
    std::ifstream in(file, std::ios::binary);
    if (!in) throw DataError(concat(file.string(), ": cannot be read"));
    LineBlocks blocks(in, file.string());
    Utf8Check utf8(file.string(), Utf8Check::Remedy::option);
    for (std::string block; blocks.next(block);) {
        if (text.bytes == 0 && !marked_encoding(block).empty()) return must_convert;
        if (text.bytes == 0)
            refuse_other_format(file, std::string_view(block).substr(0, 4096),
                                "write its texts to a file with one text per line");
        if (has_lone_return(block)) return must_convert;
        utf8.add(block);
        for_each_line(block, [&](std::string_view line) { add_line(text, line, size); });
        text.crc32 = crc32_joined(text.crc32, crc32_of(std::as_bytes(std::span(block))), block.size());
        text.bytes += block.size();
    }
    utf8.finish();
    if (text.lines == 0) throw DataError(concat(file.string(), ": has no lines; expected one text per line"));
    text.parts.back().bytes = text.bytes - text.parts.back().offset;  // the last line may lack its "\n"
    return text;
}

void write_as_lines(const std::filesystem::path& file, std::ostream& out) {
    const std::unique_ptr<Content> content = open_text(file);
    std::vector<char> piece(std::size_t{1} << 16);
    while (const std::size_t count = content->read(piece.data(), piece.size()))
        out.write(piece.data(), static_cast<std::streamsize>(count));
}

TextSurvey survey_records(const std::filesystem::path& file, const std::string& name, const PartSize& size) {
    TextSurvey text{.file = file, .are_records = true, .name = name};
    std::ifstream in(file, std::ios::binary);
    if (!in) throw DataError(concat(file.string(), ": cannot be read"));
    LineBlocks blocks(in, file.string());
    for (std::string block; blocks.next(block);) {
        for_each_line(block, [&](std::string_view line) { add_line(text, line, size); });
        text.crc32 = crc32_joined(text.crc32, crc32_of(std::as_bytes(std::span(block))), block.size());
        text.bytes += block.size();
    }
    if (text.lines == 0) throw DataError(concat(name, ": has no records"));
    return text;
}

std::vector<std::string> read_lines(const TextSurvey& text, const TextPart& part) {
    std::string bytes(part.bytes, '\0');
    if (InputFile(text.file).read_at(part.offset, bytes.data(), bytes.size()) != bytes.size())
        throw DataError(concat(text.file.string(), ": became shorter while it was read"));
    std::vector<std::string> lines;
    for_each_line(bytes, [&](std::string_view line) {
        if (text.are_records) lines.push_back(text_of_json_line(line, text.file));
        else lines.emplace_back(without_return(line));
    });
    if (static_cast<std::int64_t>(lines.size()) != part.lines)
        throw DataError(concat(text.file.string(), ": changed while it was read, after line ", part.first_line));
    return lines;
}

}  // namespace bertpretrain
