#include "text/reader/document_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/input_file.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "storage/object_reader.h"
#include "text/content/byte_order_mark.h"
#include "text/content/byte_source.h"
#include "text/content/encoded_content.h"
#include "text/content/open_content.h"
#include "text/formats/text_chunks.h"
#include "text/letters.h"
#include "text/line_ends.h"
#include "text/no_document.h"
#include "text/reader/input_files.h"
#include "text/reader/text_lineage.h"
#include "text/wiki/article_text.h"

namespace bertpretrain {

/// A content whose first bytes can be looked at before they are read.
class PeekableContent : public Content {
public:
    explicit PeekableContent(std::unique_ptr<Content> content) : content_(std::move(content)) {}

    /// Returns the next `size` bytes without consuming them, fewer only at the end. Valid until the next call.
    std::string_view peek(std::size_t size) {
        constexpr std::size_t first_read = std::size_t{1} << 16;  // a small file takes no more memory
        std::size_t filled = head_.size();
        while (filled < size) {
            head_.resize(std::min(size, std::max(first_read, 2 * filled)));
            const std::size_t count = content_->read(head_.data() + filled, head_.size() - filled);
            if (count == 0) break;
            filled += count;
        }
        head_.resize(filled);
        return std::string_view(head_).substr(0, size);
    }

    std::size_t read(char* into, std::size_t size) override {
        if (used_ == head_.size()) {
            if (std::exchange(used_, 0) > 0) head_ = std::string();  // may be large, see most_sample_bytes
            return content_->read(into, size);
        }
        const std::size_t count = std::min(size, head_.size() - used_);
        head_.copy(into, count, used_);
        used_ += count;
        return count;
    }
    std::uint64_t bytes_read() const override { return content_->bytes_read(); }

private:
    std::unique_ptr<Content> content_;
    std::string head_;
    std::size_t used_ = 0;  ///< bytes of head_ that read() returned; peek() may be called only before read()
};

namespace {

namespace fs = std::filesystem;
using Kind = DocumentFormat::Kind;
// Parsing markup may take thirty times its size in memory, so chunks above this size are parsed alone.
constexpr std::size_t large_chunk = std::size_t{2} << 20;
constexpr std::size_t rest_bytes = std::size_t{1} << 20;
constexpr std::size_t most_sampled_files = 16, sample_bytes = std::size_t{1} << 20;
constexpr std::size_t most_sample_bytes = TextChunks::largest_unit;  // where long records leave less of `sample_bytes` to judge

std::string name_of_input(const fs::path& file) { return file == standard_input ? "standard input" : file.string(); }

/// Returns the beginning of a text without its byte order mark and with "\n" as line end.
std::string text_of_head(std::string_view head) {
    if (head.starts_with(utf8_mark)) head.remove_prefix(utf8_mark.size());
    return with_newlines(std::string(head));
}

/// Makes each letter a word. Lines are then no sentences that could be split.
void separate_letters(DocumentBatch& batch) {
    for (Document& document : batch.documents) document.text = letters_apart(document.text);
    batch.lines_are_sentences = true;
}

}  // namespace

DocumentReader::DocumentReader(const std::vector<fs::path>& inputs, InputSettings settings, TaskPool& pool,
                               std::size_t bytes_ahead)
    : settings_(std::move(settings)),
      pool_(pool),
      bytes_ahead_(bytes_ahead),
      files_(input_files(inputs)),
      end_(files_.size()),
      total_bytes_(bytes_of(files_)),
      bad_(settings_.most_bad) {
    if (!settings_.encoding.empty()) check_encoding(settings_.encoding);
    if (!learns_first(settings_.sentences)) split_ = splitter_for(settings_.sentences);
    take_sample();
}

/// Waits for the tasks, which use this object.
DocumentReader::~DocumentReader() {
    for (InWork& work : in_work_) {
        try {
            pool_.wait(work.batch);
        } catch (...) { continue; }
    }
}

void DocumentReader::read_only(std::size_t first, std::size_t end) {
    check(first <= end && end <= files_.size(), "files ", first, " to ", end, " of ", files_.size());
    is_part_ = true;
    end_ = end;
    go_on_from(first, {});
}

void DocumentReader::go_on_from(std::size_t first, const RecordCounts& earlier) {
    first_ = opened_ = returned_ = first;
    total_bytes_ =
        bytes_of({files_.begin() + static_cast<std::ptrdiff_t>(first), files_.begin() + static_cast<std::ptrdiff_t>(end_)});
    bad_.add(earlier);
}

std::optional<std::size_t> DocumentReader::whole_files() const {
    const bool is_reading = source_ || large_;
    const std::size_t next = !in_work_.empty() ? in_work_.front().file : is_reading ? opened_ - 1 : opened_;
    return next > returned_ ? std::optional(next) : std::nullopt;
}

DocumentReader::Opened DocumentReader::open(const fs::path& file, const std::shared_ptr<RunningDigest>& digest) {
    const std::string name = name_of_input(file);
    Opened opened{std::make_unique<PeekableContent>(open_content(file, pool_, digest)), name, {}, {}};
    const std::string mark(marked_encoding(opened.content->peek(mark_bytes)));
    const std::string& encoding = mark.empty() ? settings_.encoding : mark;
    std::string converted;
    std::string_view head = format_head(*opened.content);
    if (!encoding.empty() && encoding != "UTF-8") {
        if (!mark.empty()) head = converted = converted_head(head, mark);
        if (!has_own_encoding(head, name, settings_)) {
            const auto named_by = mark.empty() ? EncodedContent::NamedBy::option : EncodedContent::NamedBy::mark;
            opened.content = std::make_unique<PeekableContent>(
                std::make_unique<EncodedContent>(std::move(opened.content), name, encoding, named_by));
            head = format_head(*opened.content);
        }
    }
    if (!head.empty()) opened.format = format_of(head, name, settings_);
    if (opened.format && opened.format->kind == Kind::parquet)
        opened.parquet = parquet_input(file, name, *opened.content, digest);
    return opened;
}

/// Decides layouts from files that are evenly spread over all. Looks further where long records hide most of their heads.
void DocumentReader::take_sample() {
    LayoutSamples samples = sample_of_files(sample_bytes);
    const auto is_enough = [](const LayoutSample& sample) { return sample.is_enough(); };
    for (std::size_t bytes = 2 * sample_bytes; bytes <= most_sample_bytes && !std::ranges::all_of(samples, is_enough);
         bytes *= 2) {
        LayoutSamples further = sample_of_files(bytes);
        for (std::size_t kind = 0; kind < samples.size(); ++kind)
            if (!is_enough(samples[kind]) && !further[kind].empty()) samples[kind] = std::move(further[kind]);
    }
    for (std::size_t kind = 0; kind < samples.size(); ++kind)
        if (!samples[kind].empty()) decide(static_cast<Kind>(kind), samples[kind]);
}

/// @param bytes to look at, of all files together. An error is reported later, when the file's turn comes.
DocumentReader::LayoutSamples DocumentReader::sample_of_files(std::size_t bytes) {
    LayoutSamples samples;
    const std::size_t step = (files_.size() + most_sampled_files - 1) / most_sampled_files;
    const std::size_t each = bytes / std::min(files_.size(), most_sampled_files);
    for (std::size_t file = 0; file < files_.size(); file += step) {
        if (!can_be_read_again(files_[file])) continue;
        try {
            Opened opened = open(files_[file]);
            if (opened.format && opened.format->has_layout())
                sample(opened, each, samples[static_cast<std::size_t>(opened.format->kind)]);
        } catch (const DataError&) { continue; }
    }
    return samples;
}

/// Adds the beginning of a file. @returns whether this was all of it
bool DocumentReader::sample(Opened& opened, std::size_t bytes, LayoutSample& sample) const {
    if (opened.parquet) {
        add_sample(*opened.parquet, bytes, settings_, sample);
        return false;
    }
    const std::string_view head = opened.content->peek(bytes);
    const bool is_all = head.size() < bytes;
    add_sample(text_of_head(head), is_all, opened.name, *opened.format, settings_, sample);
    return is_all;
}

/// Returns a sample of one file, which is empty only where it has no text in its first 64 MiB. @param is_all whether this was
/// all of it
LayoutSample DocumentReader::sample_of(Opened& opened, bool& is_all) const {
    for (std::size_t bytes = sample_bytes;; bytes *= 2) {
        LayoutSample one;
        is_all = sample(opened, bytes, one);
        if (is_all || bytes >= most_sample_bytes || (!one.empty() && one.is_enough())) return one;
    }
}

void DocumentReader::decide(Kind kind, const LayoutSample& sample) {
    const TextLayout layout = sample.layout(settings_);
    layouts_[static_cast<std::size_t>(kind)] = layout;
    const bool decided = (settings_.lines == "auto" && !settings_.sentences.none) || settings_.documents == "auto";
    if (decided) log_info(concat(name_of(kind), ": ", description_of(layout, kind == Kind::text)));
    constexpr double many_indented = 0.1;
    if (settings_.warns_of_indentation && sample.indented() > many_indented)
        log_warning(concat(name_of(kind), ": ", fixed(100 * sample.indented(), 0), " % of the lines are indented, as code is; ",
                           "the rows have neither the white space at the ends of lines nor the line ends, but `tokenize`, ",
                           "`predict` and `embed` keep both\n  do: if they matter, pass --keep-white-space --objective mlm to ",
                           "`shard`, and --keep-white-space to `vocabulary`"));
}

/// Returns a sample of the first file with text of a kind, before those that are read: a reader of all files has decided by it.
/// Empty: there is none.
LayoutSample DocumentReader::sample_before(Kind kind) {
    for (std::size_t file = 0; file < first_; ++file) {
        Opened opened = open(files_[file]);
        bool is_all = false;
        if (!opened.format || opened.format->kind != kind) continue;
        if (LayoutSample one = sample_of(opened, is_all); !one.empty()) return one;
    }
    return {};
}

/// Decides by the first file that has text, if the sample of all files has none of its kind.
TextLayout DocumentReader::layout_of(Opened& opened) {
    const Kind kind = opened.format->kind;
    std::optional<TextLayout>& decided = layouts_[static_cast<std::size_t>(kind)];
    if (decided) return *decided;
    LayoutSample found;
    bool is_all = false;
    if (!std::exchange(looked_before_[static_cast<std::size_t>(kind)], true)) found = sample_before(kind);
    if (found.empty()) found = sample_of(opened, is_all);
    if (!found.empty()) {
        decide(kind, found);
        return *decided;
    }
    const TextLayout layout = found.layout(settings_);  // of this file only: the next one may have text
    if (!is_all)
        log_info(concat(opened.name, ": has no whole line or record in its first ", most_sample_bytes >> 20, " MiB; ",
                        description_of(layout, kind == Kind::text)));
    return layout;
}

std::unique_ptr<DocumentSource> DocumentReader::source_of(Opened opened) {
    const TextLayout layout = opened.format->has_layout() ? layout_of(opened) : TextLayout();
    if (opened.parquet) return std::make_unique<ParquetSource>(*std::move(opened.parquet), layout.lines, settings_);
    return make_source(std::move(opened.content), opened.name, *opened.format, layout, settings_);
}

/// Opens the next file that is not empty; returns false after the last one.
bool DocumentReader::open_next() {
    while (opened_ < end_) {
        if (digests_files_) digest_ = std::make_shared<RunningDigest>();
        Opened opened = open(files_[opened_++], digest_);
        if (!opened.format) {
            may_have_origin_ = false;
            end_file();
            if (++empty_files_ == 1) first_empty_ = opened.name;
            continue;
        }
        may_have_origin_ = opened.format->kind == Kind::text || !is_remote_address(opened.name);
        count_format(opened);
        source_ = source_of(std::move(opened));
        return true;
    }
    if (reads_all() && empty_files_ == files_.size()) throw NoDocumentError(concat(first_empty_, ": is empty, expected text"));
    warn_of_odd_files();
    return false;
}

/// @param opened the file before files_[opened_]
void DocumentReader::count_format(const Opened& opened) {
    const Kind kind = opened.format->kind;
    FormatsInFolder& formats = formats_[files_[opened_ - 1].parent_path()];
    if (kind == Kind::text && ++formats.texts == 1) formats.first_text = opened.name;
    if (kind == Kind::jsonl || kind == Kind::table || kind == Kind::parquet || kind == Kind::fasta) ++formats.records;
}

void DocumentReader::warn_of_odd_files() const {
    if (empty_files_ > 0)
        log_warning(concat(empty_files_, " of ", end_ - first_, " files are empty; the first is ", first_empty_));
    for (const auto& [folder, formats] : formats_)
        if (formats.texts > 0 && formats.records > 0)
            log_warning(concat(folder.string(), ": ", formats.texts, " file(s) of plain text were read as documents beside ",
                               formats.records, " file(s) of JSONL, CSV, TSV, Parquet or FASTA; the first is ",
                               formats.first_text,
                               "\n  do: if it is no part of the corpus, name the other files, or move it away"));
}

bool DocumentReader::read_chunk(DocumentChunk& chunk) {
    while (source_ || open_next()) {
        if (source_->next(chunk)) return true;
        bytes_before_ += source_->bytes_read();
        source_.reset();
        end_file();
    }
    return false;
}

/// Hashes what the parser has left of a file: all but the head of a Parquet file, and what follows the end of a dump.
void DocumentReader::end_file() {
    if (!digests_files_) return;
    const fs::path& file = files_[opened_ - 1];
    const auto add_rest = [&](auto&& rest) {
        std::string part(rest_bytes, '\0');
        while (const std::size_t count = rest.read_at(digest_->bytes(), part.data(), part.size()))
            digest_->add(std::string_view(part).substr(0, count));
    };
    if (is_remote_address(file.string())) add_rest(ObjectReader(parse_remote_address(file.string())));
    else if (fs::is_regular_file(file)) add_rest(InputFile(file));
    digests_.push_back(digest_->finish(name_of_input(file)));
    if (may_have_origin_) digests_.back().made_from = origin_of_text(file, digests_.back());
}

std::uint64_t DocumentReader::bytes_read() const { return bytes_before_ + (source_ ? source_->bytes_read() : 0); }

bool DocumentReader::is_full() const {
    return works_alone_ || in_work_.size() > 2 * pool_.threads() + 1 || (in_work_.size() > 1 && bytes_in_work_ > bytes_ahead_);
}

void DocumentReader::submit(DocumentChunk chunk) {
    const std::size_t bytes = chunk.bytes;
    in_work_.push_back({pool_.submit([this, parse = std::move(chunk.parse)] {
                            DocumentBatch batch = parse();
                            if (settings_.letters == "apart") separate_letters(batch);
                            if (settings_.sentences.none) batch.lines_are_sentences = true;
                            if (split_) split_sentences(batch, split_);
                            return batch;
                        }),
                        opened_ - 1, bytes});
    bytes_in_work_ += bytes;
}

/// Reads ahead as far as the memory allows. A large chunk waits until all before it were returned.
void DocumentReader::fill() {
    try {
        while (!ended_ && !is_full()) {
            if (!large_) {
                DocumentChunk chunk;
                ended_ = !read_chunk(chunk);
                if (ended_) return;
                if (chunk.bytes <= large_chunk) {
                    submit(std::move(chunk));
                    continue;
                }
                large_ = std::move(chunk);
            }
            if (!in_work_.empty()) return;
            submit(*std::exchange(large_, {}));
            works_alone_ = true;
        }
    } catch (const DataError&) {
        failure_ = std::current_exception();
        ended_ = true;
    }
}

DocumentBatch DocumentReader::take() {
    InWork next = std::move(in_work_.front());
    in_work_.pop_front();
    bytes_in_work_ -= next.bytes;
    returned_ = next.file;
    works_alone_ = false;
    return pool_.wait(next.batch);
}

/// Trains Punkt on the first documents, then splits these into sentences.
void DocumentReader::learn() {
    if (!reads_all()) {
        DocumentReader all({files_.begin(), files_.end()}, settings_, pool_, bytes_ahead_);
        all.learn();
        split_ = all.split_;
        return;
    }
    std::vector<std::shared_ptr<DocumentBatch>> batches;
    std::vector<std::size_t> file_of_batch;
    std::size_t bytes = 0;
    for (fill(); !in_work_.empty(); bytes < punkt_learning_bytes ? fill() : void()) {
        batches.push_back(std::make_shared<DocumentBatch>(take()));
        file_of_batch.push_back(returned_);
        for (const Document& document : batches.back()->documents) bytes += document.text.size();
    }
    std::vector<std::string_view> paragraphs;
    bytes = 0;
    for (const auto& batch : batches)
        for (const Document& document : batch->documents) {
            if (bytes >= punkt_learning_bytes || batch->lines_are_sentences) break;
            paragraphs.emplace_back(document.text);
            bytes += document.text.size();
        }
    split_ = paragraphs.empty() ? splitter_for({}) : learned_splitter(paragraphs, pool_);
    for (std::size_t i = 0; i < batches.size(); ++i)
        in_work_.push_back({pool_.submit([this, batch = batches[i]] {
                                split_sentences(*batch, split_);
                                return std::move(*batch);
                            }),
                            file_of_batch[i]});
    returned_ = first_;
}

std::optional<DocumentBatch> DocumentReader::next() {
    if (!split_) learn();
    fill();
    if (in_work_.empty()) {
        if (failure_) std::rethrow_exception(failure_);
        is_part_ ? bad_.report() : bad_.finish();
        return std::nullopt;
    }
    DocumentBatch batch = take();
    bad_.add(batch);
    return batch;
}

bool DocumentReader::is_sentence_text() {
    const std::optional<TextLayout>& layout = layouts_[static_cast<std::size_t>(Kind::text)];
    if (!settings_.encoding.empty() || settings_.letters == "apart" || !layout ||
        layout->documents != TextLayout::Documents::empty_lines || layout->lines != TextLayout::Lines::sentences)
        return false;
    return std::all_of(files_.begin(), files_.end(), [this](const fs::path& file) {
        if (!fs::is_regular_file(file)) return false;
        ByteSource source(file);
        const std::string_view head = format_head(source);
        return !is_compressed(head) && !head.empty() && marked_encoding(head).empty() &&
               format_of(head, source.name(), settings_).kind == Kind::text;
    });
}

}  // namespace bertpretrain
