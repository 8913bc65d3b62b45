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
#include "core/threads/task_pool.h"
#include "text/content/byte_source.h"
#include "text/no_document.h"
#include "text/reader/extract_progress.h"
#include "text/reader/extracted_part.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

fs::path partial_of(fs::path output) { return output += ".partial"; }

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
    for (const fs::path& file : {output, partial_of(output), text_lineage_file(output)}) {
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

ExtractCounts write_any_sentences(DocumentReader& reader, std::int64_t minimum_sentences, const WriteText& write) {
    ExtractCounts counts;
    ExtractProgress progress(reader.total_bytes());
    const auto start = std::chrono::steady_clock::now();
    while (const std::optional<DocumentBatch> batch = reader.next()) {
        const std::string text = text_of(*batch, minimum_sentences, counts);
        write(text);
        counts.bytes_written += text.size();
        counts.bytes_read = reader.bytes_read();
        progress.show(counts);
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
                throw DataError(
                    concat(partial_of(file).string(), ": writing failed (", std::strerror(errno), ")", disk_advice(errno)));
            running.add(text);
        });
        digest = running.finish(file.filename().string());
        if (finish) finish(digest);
    });
    return digest;
}

ExtractCounts extract(const ExtractSettings& settings) {
    TaskPool pool(std::min(settings.threads, most_extract_threads));
    DocumentReader reader(settings.inputs, settings.reading, pool);
    check_text_output(settings.output, reader.files());
    const OutputLock alone(settings.output);
    require_no_parts(settings.output);
    reader.digest_files();
    ExtractCounts counts;
    const FileDigest digest = write_text_file(
        settings.output, [&](const WriteText& write) { counts = write_sentences(reader, settings.minimum_sentences, write); },
        [&](const FileDigest&) { remove_text_lineage(settings.output); });  // of the text that is replaced
    write_text_lineage(settings.output, digest, reader.digests());
    return counts;
}

}  // namespace bertpretrain
