#include "text/reader/document_source.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "text/formats/document_parsers.h"
#include "text/formats/fasta_records.h"
#include "text/formats/separator_line.h"
#include "text/formats/table_records.h"
#include "text/white_space.h"
#include "text/wiki/article_text.h"
#include "text/wiki/page_chunks.h"

namespace bertpretrain {
namespace {

class WikipediaSource : public DocumentSource {
public:
    WikipediaSource(std::unique_ptr<Content> content, const std::string& name, const InputSettings& settings)
        : chunks_(std::move(content), name), settings_(settings) {}

    bool next(DocumentChunk& chunk) override {
        auto pages = std::make_shared<PageChunk>();
        if (!chunks_.next(*pages)) return false;
        chunk.bytes = pages->text.size();
        chunk.parse = [pages = std::shared_ptr<const PageChunk>(std::move(pages)), &settings = settings_] {
            return articles_of_chunk(*pages, settings.prose);
        };
        return true;
    }
    std::uint64_t bytes_read() const override { return chunks_.bytes_read(); }

private:
    PageChunks chunks_;
    const InputSettings& settings_;
};

/// What plain text, JSONL and tables have in common.
class TextSource : public DocumentSource {
public:
    using Parse = std::function<void(const TextChunk& chunk, DocumentBatch& batch)>;

    TextSource(TextChunks chunks, std::string name, TextLayout::Lines lines, TextChunks::WholeUnits whole_units, Parse parse)
        : chunks_(std::move(chunks)),
          name_(std::move(name)),
          lines_(lines),
          whole_units_(std::move(whole_units)),
          parse_(std::move(parse)) {}

    bool next(DocumentChunk& chunk) override {
        auto text = std::make_shared<TextChunk>();
        if (!chunks_.next(*text, whole_units_)) return false;
        begin(*text);
        chunk.bytes = text->text.size();
        chunk.parse = [text = std::shared_ptr<const TextChunk>(std::move(text)), name = name_, parse = parse_, lines = lines_] {
            DocumentBatch batch;
            batch.file = name;
            batch.lines_are_sentences = lines == TextLayout::Lines::sentences;
            parse(*text, batch);
            for (Document& document : batch.documents) document.text = tidy_lines(document.text, lines);
            batch.counts.pages = std::ssize(batch.documents);
            return batch;
        };
        return true;
    }
    std::uint64_t bytes_read() const override { return chunks_.bytes_read(); }

protected:
    /// Called with each chunk before it is parsed.
    virtual void begin(TextChunk&) {}
    void set_parse(Parse parse) { parse_ = std::move(parse); }

private:
    TextChunks chunks_;
    std::string name_;
    TextLayout::Lines lines_;
    TextChunks::WholeUnits whole_units_;
    Parse parse_;
};

/// Returns the size of the whole records with which `text` begins.
std::size_t whole_records(std::string_view text, bool ended, char delimiter) {
    if (ended) return text.size();
    std::size_t end = 0;
    while (end < text.size()) {
        const TableRecord record = read_table_record(text, end, delimiter, nullptr);
        if (record.is_cut) break;
        end = record.end;
    }
    return end;
}

class TableSource : public TextSource {
public:
    TableSource(TextChunks chunks, const std::string& name, TextLayout::Lines lines, char delimiter, RecordFields fields)
        : TextSource(
              std::move(chunks), name, lines,
              [delimiter](std::string_view text, bool ended) { return whole_records(text, ended, delimiter); }, nullptr),
          name_(name),
          delimiter_(delimiter),
          fields_(std::move(fields)) {}

private:
    void begin(TextChunk& chunk) override {
        if (std::exchange(began_, true)) return;
        const std::size_t begin = begin_of_header(chunk.text);
        const std::size_t end = read_table_record(chunk.text, begin, delimiter_, nullptr).end;
        const std::string header = chunk.text.substr(begin, end - begin);
        chunk.first_line += static_cast<std::uint64_t>(
            std::count(chunk.text.begin(), chunk.text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        chunk.text.erase(0, end);
        set_parse([columns = read_header(header, delimiter_, fields_, name_)](const TextChunk& text, DocumentBatch& batch) {
            parse_table(text, columns, batch);
        });
    }

    std::string name_;
    char delimiter_;
    RecordFields fields_;
    bool began_ = false;
};

/// The records of FASTA are read in turn, because a sequence may be longer than a chunk.
class FastaSource : public DocumentSource {
public:
    FastaSource(TextChunks chunks, std::string name, bool letters_apart)
        : chunks_(std::move(chunks)), name_(std::move(name)), records_(letters_apart) {}

    bool next(DocumentChunk& chunk) override {
        if (ended_) return false;
        auto batch = std::make_shared<DocumentBatch>();
        batch->file = name_;
        batch->lines_are_sentences = true;
        TextChunk text;
        ended_ = !chunks_.next(text, [](std::string_view part, bool) { return part.size(); });
        if (ended_) records_.finish(*batch);
        else records_.add(text.text, *batch);
        batch->counts.pages = std::ssize(batch->documents);
        chunk.bytes = text.text.size();
        chunk.parse = [batch] { return std::move(*batch); };
        return true;
    }
    std::uint64_t bytes_read() const override { return chunks_.bytes_read(); }

private:
    TextChunks chunks_;
    std::string name_;
    FastaRecords records_;
    bool ended_ = false;
};

constexpr const char* several_documents =
    "\n  do: if it is several documents, pass what separates them: --documents empty-lines, or --documents lines";

/// Removes the line end that only separates a document from the next one.
void drop_separators(TextLayout layout, DocumentBatch& batch) {
    if (layout.documents == TextLayout::Documents::files) return;
    for (Document& document : batch.documents)
        if (document.text.ends_with('\n')) document.text.pop_back();
}

std::unique_ptr<DocumentSource> plain_source(std::unique_ptr<Content> content, const std::string& name, TextLayout layout) {
    using Documents = TextLayout::Documents;
    const bool are_lines = layout.documents == Documents::lines;
    TextChunks chunks(std::move(content), name, are_lines ? "line" : "document", true, are_lines ? "" : several_documents);
    TextChunks::WholeUnits whole_units = whole_blocks;
    if (are_lines) whole_units = whole_lines;
    if (layout.documents == Documents::files)
        whole_units = [](std::string_view text, bool ended) { return ended ? text.size() : 0; };
    return std::make_unique<TextSource>(std::move(chunks), name, layout.lines, whole_units,
                                        [layout](const TextChunk& text, DocumentBatch& batch) {
                                            parse_plain_text(text, layout.documents, batch);
                                            if (layout.lines == TextLayout::Lines::kept) drop_separators(layout, batch);
                                        });
}

/// Returns how many bytes of a file's head can be judged if more follow it. The text of a record is known only at its end.
std::size_t judged_bytes(std::string_view head, DocumentFormat::Kind kind) {
    const std::size_t lines = head.rfind('\n') + 1;
    return kind == DocumentFormat::Kind::text && 2 * lines < head.size() ? whole_characters(head) : lines;
}

}  // namespace

void add_sample(std::string head, bool is_all, const std::string& name, DocumentFormat format, const InputSettings& settings,
                LayoutSample& sample) {
    using Kind = DocumentFormat::Kind;
    const std::size_t bytes = head.size();
    if (!is_all) head.resize(judged_bytes(head, format.kind));
    std::size_t judged = head.size();
    if (format.kind == Kind::text) {
        sample.begin_file();
        sample.count_head(bytes, judged);
        return sample.add(head);
    }
    const RecordFields fields{settings.text_field, settings.id_field};
    TextChunk chunk{std::move(head), 1};
    DocumentBatch batch;
    if (format.kind == Kind::jsonl) parse_jsonl(chunk, fields, format.delimiter, batch);
    if (format.kind == Kind::table) {
        const std::size_t begin = begin_of_header(chunk.text);
        const std::size_t end = read_table_record(chunk.text, begin, format.delimiter, nullptr).end;
        const std::string header = chunk.text.substr(begin, end - begin);
        chunk.text.erase(0, end);
        chunk.text.resize(whole_records(chunk.text, is_all, format.delimiter));
        judged = end + chunk.text.size();
        parse_table(chunk, read_header(header, format.delimiter, fields, name), batch);
    }
    sample.count_head(bytes, judged);
    for (const Document& document : batch.documents) sample.add(document.text);
}

std::unique_ptr<DocumentSource> make_source(std::unique_ptr<Content> content, const std::string& name, DocumentFormat format,
                                            TextLayout layout, const InputSettings& settings) {
    using Kind = DocumentFormat::Kind;
    const RecordFields fields{settings.text_field, settings.id_field};
    if (format.kind == Kind::wikipedia) return std::make_unique<WikipediaSource>(std::move(content), name, settings);
    if (format.kind == Kind::text) return plain_source(std::move(content), name, layout);
    TextChunks chunks(std::move(content), name, "record", false);
    if (format.kind == Kind::fasta) return std::make_unique<FastaSource>(std::move(chunks), name, settings.letters != "together");
    if (format.kind == Kind::table)
        return std::make_unique<TableSource>(std::move(chunks), name, layout.lines, format.delimiter, fields);
    chunks.skip_too_large_units(format.delimiter);
    TextChunks::WholeUnits whole_units = whole_lines;
    if (format.delimiter != '\n')
        whole_units = [separator = format.delimiter](std::string_view text, bool ended) {
            const std::size_t last = text.rfind(separator);
            return ended ? text.size() : last == std::string_view::npos ? 0 : last;
        };
    return std::make_unique<TextSource>(std::move(chunks), name, layout.lines, std::move(whole_units),
                                        [fields, separator = format.delimiter](const TextChunk& text, DocumentBatch& batch) {
                                            parse_jsonl(text, fields, separator, batch);
                                        });
}

}  // namespace bertpretrain
