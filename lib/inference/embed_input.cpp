#include "inference/embed_input.h"

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "archive/text_ids.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/task_pool.h"
#include "storage/remote_object.h"
#include "text/content/byte_order_mark.h"
#include "text/content/byte_source.h"
#include "text/content/encoded_content.h"
#include "text/content/open_content.h"
#include "text/formats/document_format.h"
#include "text/letters.h"
#include "text/reader/document_reader.h"
#include "text/reader/read_text.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Kind = DocumentFormat::Kind;

void write_content(Content& content, const fs::path& copy) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 18;
    write_atomically(copy, [&](std::ostream& out) {
        std::vector<char> piece(piece_bytes);
        while (const std::size_t count = content.read(piece.data(), piece.size()))
            out.write(piece.data(), static_cast<std::streamsize>(count));
    });
}

struct FoundFormat {
    Kind kind = Kind::text;
    bool has_named_encoding = false;  ///< settings.encoding is its encoding: no mark names another, and it is no dump or Parquet
};

FoundFormat format_of_file(const fs::path& file, const std::string& name, const InputSettings& settings) {
    ByteSource source(file);
    std::string_view head = format_head(source);
    if (head.empty()) return {};
    const std::string mark(marked_encoding(head.substr(0, mark_bytes)));
    const bool is_named = mark.empty() && !settings.encoding.empty() && !has_own_encoding(head, name, settings);
    std::string converted;
    if (!mark.empty() || is_named) head = converted = converted_head(head, is_named ? settings.encoding : mark);
    return {format_of(head, name, settings).kind, is_named};
}

/// Whether the input is copied, because its lines are read several times and in any order. Records are read once.
bool needs_copy(const fs::path& input, const std::string& name, const InputSettings& settings) {
    if (!can_be_read_again(input) || is_compressed(ByteSource(input).peek(mark_bytes))) return true;
    return is_remote_address(input.string()) && format_of_file(input, name, settings).kind == Kind::text;
}

/// Warns where ids do not name records: the field may be another one than the user thinks.
class DistinctIds {
public:
    void add(const std::string& id) {
        if (count_ == most_counted) return;
        ++count_;
        distinct_.insert(std::hash<std::string>()(id));
    }
    void warn(const std::string& field) const {
        if (2 * distinct_.size() < count_)
            log_warning(concat("--id-field ", field, ": distinct ids among the first ",
                               with_thousands(static_cast<std::int64_t>(count_)),
                               " records: ", with_thousands(static_cast<std::int64_t>(distinct_.size())),
                               "; expected one per record\n  do: check that this field holds the records' ids"));
    }

private:
    static constexpr std::size_t most_counted = 1000000;
    std::size_t count_ = 0;
    std::unordered_set<std::size_t> distinct_;
};

/// Writes the records' texts and ids. @param kind of the file that is read
void write_records(const fs::path& file, Kind kind, const InputSettings& settings, const EmbedInput& to, TaskPool& pool) {
    DocumentReader reader({file}, settings, pool);
    DistinctIds distinct;
    const bool ends_lines = kind == Kind::wikipedia || kind == Kind::fasta;  // the others' texts are as they stand in the file
    const auto write_all = [&](std::ostream& texts, std::ostream* ids) {
        while (const std::optional<DocumentBatch> batch = reader.next())
            for (const Document& document : batch->documents) {
                std::string_view text = document.text;
                if (ends_lines && text.ends_with('\n')) text.remove_suffix(1);
                write_as_json_line(texts, text);
                if (ids == nullptr) continue;
                write_as_json_line(*ids, document.id);
                distinct.add(document.id);
            }
    };
    write_atomically(to.file, [&](std::ostream& texts) {
        if (to.ids.empty()) write_all(texts, nullptr);
        else write_atomically(to.ids, [&](std::ostream& ids) { write_all(texts, &ids); });
    });
    if (!settings.id_field.empty()) distinct.warn(settings.id_field);
}

/// Writes each line with a space after each letter.
void write_letters_apart(const fs::path& file, const EmbedInput& to) {
    TextLines lines(file);
    write_atomically(to.file, [&](std::ostream& texts) {
        for (std::string line; lines.next(line);) write_as_json_line(texts, letters_apart(line));
    });
}

/// Reads each record, or fails.
InputSettings settings_for_records(InputSettings settings) {
    settings.documents = "lines";
    settings.lines = "as_written";
    settings.sentences.none = true;
    settings.most_bad = 0;
    return settings;
}

EmbedInput input_of(fs::path file, const std::string& name, const InputSettings& settings, bool asks_for_fields,
                    const fs::path& folder, TaskPool& pool) {
    const auto [kind, has_named_encoding] = format_of_file(file, name, settings);
    if (kind != Kind::text) {
        EmbedInput found{.file = folder / "texts", .are_records = true, .name = name};
        if (!settings.id_field.empty() || kind == Kind::fasta) found.ids = folder / "ids";
        write_records(file, kind, settings_for_records(settings), found, pool);
        return found;
    }
    if (asks_for_fields)
        throw ConfigError(concat(name,
                                 ": is plain text, whose lines have no fields\n  do: leave out --text-field and --id-field, ",
                                 "or name the format with --format"));
    if (has_named_encoding) {
        EncodedContent converted(open_content(file, pool), name, settings.encoding);
        write_content(converted, folder / "input");
        file = folder / "input";
    }
    if (settings.letters == "apart") {
        const EmbedInput found{.file = folder / "texts", .are_records = true, .name = name};
        write_letters_apart(file, found);
        return found;
    }
    return {.file = file, .name = name};
}

}  // namespace

EmbedInput prepare_embed_input(const fs::path& input, InputSettings settings, bool asks_for_fields, const fs::path& folder,
                               std::size_t threads) {
    const std::string name = input == standard_input ? "standard input" : input.string();
    const bool is_remote = is_remote_address(name);
    if (input != standard_input && !is_remote && !fs::exists(input)) throw DataError(concat(name, ": does not exist"));
    if (is_remote ? parse_remote_address(name).is_folder() : fs::is_directory(input))
        throw DataError(concat(name, ": is a folder, expected a file of texts"));
    if (is_remote) object_size(name);  // refuses a missing one
    if (!settings.encoding.empty()) check_encoding(settings.encoding);
    TaskPool pool(threads);
    if (!needs_copy(input, name, settings)) return input_of(input, name, settings, asks_for_fields, folder, pool);
    const fs::path copy = folder / "input";
    write_content(*open_content(input, pool), copy);
    try {
        return input_of(copy, name, settings, asks_for_fields, folder, pool);
    } catch (const DataError& error) {  // messages name the input instead of its copy
        std::string message = error.what();
        for (std::size_t at = message.find(copy.string()); at != std::string::npos;
             at = message.find(copy.string(), at + name.size()))
            message.replace(at, copy.string().size(), name);
        throw DataError(message);
    }
}

void check_embed_input(const fs::path& input) {
    constexpr std::uint64_t enough_bytes = std::uint64_t{4} << 20;
    const InputSettings settings = settings_for_records({});
    TaskPool pool(1);
    const std::unique_ptr<Content> content = open_content(input, pool);
    std::string head(format_head_bytes, '\0');
    std::size_t size = 0;
    while (const std::size_t count = content->read(head.data() + size, head.size() - size)) size += count;
    head.resize(size);
    if (const std::string mark(marked_encoding(std::string_view(head).substr(0, mark_bytes))); !mark.empty())
        head = converted_head(head, mark);
    if (head.empty() || format_of(head, input.string(), settings).kind == Kind::text) return;
    DocumentReader reader({input}, settings, pool);
    while (reader.next() && reader.bytes_read() < enough_bytes) {}
    reader.bad_records().finish();
}

}  // namespace bertpretrain
