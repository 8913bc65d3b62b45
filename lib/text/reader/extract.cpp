#include "text/reader/extract.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ostream>
#include <string>
#include <system_error>

#include "core/error.h"
#include "core/files/disk.h"
#include "core/files/file_lock.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "core/threads/task_pool.h"
#include "text/content/byte_source.h"
#include "text/no_document.h"
#include "text/reader/continued_text.h"
#include "text/reader/extract_progress.h"
#include "text/reader/extract_request.h"
#include "text/reader/extracted_part.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// Returns the batch's documents with at least `minimum` sentences as text, and counts them.
std::string text_of(const DocumentBatch& batch, std::int64_t minimum, ExtractCounts& counts) {
    std::string text;
    counts.add_pages(batch.counts);
    for (const Document& document : batch.documents) {
        const std::int64_t sentences = std::count(document.text.begin(), document.text.end(), '\n');
        if (sentences < std::max<std::int64_t>(minimum, 1)) {
            ++counts.short_articles;
            continue;
        }
        text.append(document.text) += '\n';
        ++counts.articles;
        counts.sentences += sentences;
    }
    return text;
}

std::string explain_nothing(const ExtractCounts& counts, std::int64_t minimum) {
    if (counts.pages == 0) return "no document found: the inputs hold no text";
    std::string left_out;
    if (counts.redirects + counts.other_pages > 0)
        left_out = concat(counts.redirects, " redirects, ", counts.other_pages, " of other types, ");
    return concat("no document found in ", counts.pages, " pages or records: ", left_out, counts.short_articles,
                  " with fewer than ", std::max<std::int64_t>(minimum, 1),
                  " sentences; pass files with text, or a smaller --minimum-sentences");
}

}  // namespace

void check_text_output(const fs::path& output, const std::vector<fs::path>& inputs) {
    if (!output.has_filename()) throw ConfigError(concat("--output ", output.string(), ": expected the name of a file"));
    for (const fs::path& file : {output, partial_text_file(output), saved_text_record(output), text_lineage_file(output)}) {
        std::error_code failure, missing;
        const fs::file_type type = fs::status(file, failure).type();
        if (type == fs::file_type::not_found) continue;
        if (type == fs::file_type::none)
            throw ConfigError(concat("--output ", file.string(), ": cannot be written (", failure.message(), ")"));
        if (type != fs::file_type::regular)
            throw ConfigError(concat("--output ", file.string(), ": exists and is not a regular file; choose another"));
        for (const fs::path& input : inputs)
            if (input != standard_input && fs::equivalent(file, input, missing))
                throw ConfigError(concat("--output ", output.string(), ": would overwrite the input ", input.string()));
    }
    make_writable_folder(output.has_parent_path() ? output.parent_path() : fs::path("."));
}

ExtractCounts write_any_sentences(DocumentReader& reader, std::int64_t minimum_sentences, const WriteText& write,
                                  const std::function<void(const ExtractCounts& counts)>& after_batch) {
    ExtractCounts counts;
    ExtractProgress progress(reader.total_bytes());
    const auto start = std::chrono::steady_clock::now();
    while (const std::optional<DocumentBatch> batch = reader.next()) {
        const std::string text = text_of(*batch, minimum_sentences, counts);
        write(text);
        counts.bytes_written += text.size();
        counts.bytes_read = reader.bytes_read();
        progress.show(counts);
        if (after_batch) after_batch(counts);
    }
    counts.bytes_read = reader.bytes_read();
    counts.bad_records = reader.bad_records().counts().bad;
    counts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return counts;
}

void require_documents(const ExtractCounts& counts, std::int64_t minimum_sentences) {
    if (counts.articles == 0) throw NoDocumentError(explain_nothing(counts, minimum_sentences));
}

ExtractCounts write_sentences(DocumentReader& reader, std::int64_t minimum_sentences, const WriteText& write) {
    ExtractCounts counts = write_any_sentences(reader, minimum_sentences, write);
    require_documents(counts, minimum_sentences);
    return counts;
}

FileDigest write_text_file(const fs::path& file, const std::function<void(const WriteText& write)>& fill,
                           const std::function<void(const FileDigest& digest)>& finish) {
    FileDigest digest;
    write_atomically(file, [&](std::ostream& out) {
        RunningDigest running;
        fill([&](std::string_view text) {
            if (!out.write(text.data(), static_cast<std::streamsize>(text.size())))
                throw DataError(concat(partial_text_file(file).string(), ": writing failed (", std::strerror(errno), ")",
                                       disk_advice(errno)));
            running.add(text);
        });
        digest = running.finish(file.filename().string());
        if (finish) finish(digest);
    });
    return digest;
}

ExtractedPart extract_files(const ExtractSettings& settings, const fs::path& file, DocumentReader& reader, std::size_t first,
                            const ExtractedPart::Request& request,
                            const std::function<void(const ExtractedPart& made)>& before_rename) {
    ContinuedText text(file, request, settings.save_seconds);
    const ExtractedPart& found = text.found();
    const std::size_t begin = first + found.inputs.size();
    if (text.is_saved()) {
        reader.go_on_from(begin, found.records);
        log_info(concat(file.string(), ": goes on after ", with_thousands(std::ssize(found.inputs)),
                        " files, whose text an interrupted run has written"));
    }
    reader.digest_files();
    const auto made_with = [&](const ExtractCounts& counts, std::size_t end) {
        ExtractedPart made = found;
        made.minimum_sentences = settings.minimum_sentences;
        made.most_bad = settings.reading.most_bad;
        made.counts.add_pages(counts);
        made.counts.bytes_written += counts.bytes_written;
        made.counts.bytes_read += counts.bytes_read;
        made.counts.seconds = counts.seconds;
        made.records = reader.bad_records().counts();
        made.counts.bad_records = made.records.bad;
        const auto digests = reader.digests().begin();
        made.inputs.insert(made.inputs.end(), digests, digests + static_cast<std::ptrdiff_t>(end - begin));
        return made;
    };
    const auto save = [&](const ExtractCounts& counts) {
        const auto files = reader.whole_files();
        if (!files || !text.is_due()) return;
        ExtractedPart whole = made_with(counts, *files);
        whole.counts.bytes_read = 0;  // the reader has read further
        for (const FileDigest& input : whole.inputs) whole.counts.bytes_read += input.bytes;
        text.save(std::move(whole));
    };
    try {
        const ExtractCounts counts = write_any_sentences(
            reader, settings.minimum_sentences, [&](std::string_view part) { text.write(part); }, save);
        ExtractedPart made = made_with(counts, begin + reader.digests().size());
        made.text = text.finish([&](const FileDigest&) {
            if (before_rename) before_rename(made);
        });
        return made;
    } catch (const NoDocumentError&) {
        text.discard();
        throw;
    } catch (const Error&) {
        if (text.is_saved())
            log_info(
                concat(partial_text_file(file).string(), ": holds the text of whole files; the same command goes on after them"));
        throw;
    }
}

ExtractCounts extract(const ExtractSettings& settings) {
    TaskPool pool(std::min(settings.threads, most_extract_threads));
    DocumentReader reader(settings.inputs, settings.reading, pool);
    check_text_output(settings.output, reader.files());
    const OutputLock alone(settings.output);
    require_no_parts(settings.output);
    const ExtractedPart made = extract_files(settings, settings.output, reader, 0, request_on_this_host(settings, reader.files()),
                                             [&](const ExtractedPart& all) {
                                                 require_documents(all.counts, settings.minimum_sentences);
                                                 remove_text_lineage(settings.output);  // of the text that is replaced
                                             });
    write_text_lineage(settings.output, *made.text, made.inputs);
    return made.counts;
}

}  // namespace bertpretrain
