#include "deduplication/deduplicate.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/files/file_lock.h"
#include "core/files/files.h"
#include "core/output/displayable.h"
#include "core/output/log.h"
#include "core/output/phase_progress.h"
#include "core/output/progress_line.h"
#include "core/strings.h"
#include "core/threads/task_pool.h"
#include "deduplication/clusters.h"
#include "deduplication/deduplicated_text.h"
#include "deduplication/document_store.h"
#include "deduplication/near_duplicates.h"
#include "deduplication/repeated_sentences.h"
#include "storage/remote_address.h"
#include "text/reader/document_reader.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

// Shares of the memory, in twentieths; the rest is for the program and for what the allocator keeps. While documents are read:
// the records, and the batches in work. Afterwards: the records' merge, which takes no more than they did, the table of
// documents, and the sets that are compared.
constexpr std::uint64_t twentieths = 20, of_contents = 1, of_bands = 4, of_sentences = 2, of_places = 1, of_table = 4,
                        of_sets = 3;
constexpr std::uint64_t of_batches = 3, bytes_per_batch = std::uint64_t{5} << 20;  // a batch with its fingerprints
constexpr std::uint64_t of_reading = 1, bytes_per_byte_read = 3;                   // a chunk with its documents
constexpr std::uint64_t bytes_per_document = 9;                                    // cluster, copy, size of the cluster

/// Whether the batch is processed alone: it holds a large document.
bool is_large(const DocumentBatch& batch) {
    std::size_t bytes = 0;
    for (const Document& document : batch.documents) bytes += document.text.size();
    return bytes > (std::size_t{4} << 20);
}

/// Returns the beginning of a text on one line, at most 160 bytes.
std::string beginning_of(std::string_view text) {
    std::size_t size = std::min<std::size_t>(text.size(), 160);
    while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    std::string begin(text.substr(0, size));
    std::replace(begin.begin(), begin.end(), '\n', ' ');
    return displayable(begin);
}

void check_deduplication(const DeduplicationSettings& settings, const std::vector<fs::path>& inputs) {
    if (settings.memory < least_deduplication_memory)
        throw ConfigError(
            concat("--memory ", bytes_text(settings.memory), ": expected at least ", bytes_text(least_deduplication_memory)));
    make_writable_folder(settings.output);
    for (const fs::path& input : inputs)
        for (const char* name : {"text.txt", "duplicates.tsv", "report.json", "report.txt"})
            if (input != "-" && !is_remote_address(input.string()) && fs::exists(settings.output / name) &&
                fs::equivalent(input, settings.output / name))
                throw ConfigError(concat("--output ", settings.output.string(), ": would overwrite the input ", input.string(),
                                         "; choose another folder"));
}

class Deduplication {
public:
    explicit Deduplication(const DeduplicationSettings& settings)
        : settings_(settings),
          bands_of_document_(bands_for(settings.threshold)),
          min_hash_(bands_of_document_),
          documents_(settings.output),
          contents_(settings.output, share(of_contents), settings.threads),
          bands_(settings.output, share(of_bands), settings.threads),
          sentences_(settings.output, share(of_sentences), settings.threads) {
        report_.near = settings.near;
        report_.threshold = settings.threshold;
        report_.share_at_threshold = settings.near ? candidate_share(bands_of_document_, settings.threshold) : 0;
        report_.shingle_words = settings.shingle_words;
        report_.sentence_limit = settings.sentence_limit;
    }

    DeduplicationReport run(DocumentReader& reader, TaskPool& pool) {
        read(reader, pool);
        unite_copies();
        if (settings_.near) {
            const NearSettings near{settings_.threshold, settings_.shingle_words, share(of_sets), settings_.threads};
            unite_near_duplicates(bands_, documents_, is_copy_, near, *clusters_);
        }
        write();
        return std::move(report_);
    }

private:
    using Fingerprints = std::vector<DocumentFingerprint>;

    std::size_t share(std::uint64_t parts) const { return settings_.memory * parts / twentieths; }
    bool is_kept(std::uint32_t document) { return clusters_->first_of(document) == document; }

    void read(DocumentReader& reader, TaskPool& pool) {
        const FingerprintSettings asked{settings_.shingle_words, settings_.near ? &min_hash_ : nullptr,
                                        settings_.sentence_limit > 0};
        const std::size_t most = std::clamp<std::size_t>(share(of_batches) / bytes_per_batch, 1, 2 * pool.threads());
        std::deque<std::future<Fingerprints>> in_work;
        reader.digest_files();
        ProgressLine progress;
        const auto take_until = [&](std::size_t left) {
            for (; in_work.size() > left; in_work.pop_front()) take(pool.wait(in_work.front()));
        };
        for (std::optional<DocumentBatch> batch; (batch = reader.next()); take_until(most - 1)) {
            if (is_large(*batch)) take_until(0);
            in_work.push_back(pool.submit([asked, batch = *std::move(batch)] { return fingerprints_of(batch, asked); }));
            if (progress.is_due()) show(progress, reader);
        }
        take_until(0);
        if (documents_.size() == 0)
            throw DataError(concat("no document in ", reader.files().size(), " files; expected some with text"));
        inputs_ = reader.digests();
        documents_.finish();
        contents_.finish();
        bands_.finish();
        sentences_.finish();
    }

    void show(ProgressLine& progress, const DocumentReader& reader) const {
        const double read = static_cast<double>(reader.bytes_read()), total = static_cast<double>(reader.total_bytes());
        progress.show(concat(bytes_text(reader.bytes_read()), " read | ", with_thousands(documents_.size()), " documents"),
                      total > 0 ? std::optional(std::min(read / total, 1.0)) : std::nullopt);
    }

    void take(Fingerprints&& fingerprints) {
        for (const DocumentFingerprint& fingerprint : fingerprints) {
            const std::uint32_t document = documents_.size();
            documents_.add(fingerprint.source, fingerprint.text);
            report_.text_bytes += fingerprint.text.size() + 1;
            report_.sentences += static_cast<std::uint64_t>(std::count(fingerprint.text.begin(), fingerprint.text.end(), '\n'));
            contents_.add({fingerprint.content, document});
            for (const std::uint64_t key : fingerprint.bands)
                bands_.add({static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), document});
            for (SentenceRecord sentence : fingerprint.sentences) {
                sentence.document = document;
                sentences_.add(sentence);
            }
        }
    }

    void unite_copies() {
        report_.documents = documents_.size();
        const std::uint64_t table = bytes_per_document * documents_.size();
        if (table > share(of_table))
            throw ConfigError(concat("--memory ", bytes_text(settings_.memory), ": ", with_thousands(documents_.size()),
                                     " documents need at least ", bytes_text(table * twentieths / of_table)));
        clusters_.emplace(documents_.size());
        is_copy_.resize(documents_.size());
        PhaseProgress progress("comparing equal documents", static_cast<double>(contents_.buckets));
        for_each_index(contents_.buckets, settings_.threads, [&](std::size_t bucket) {
            std::optional<ContentRecord> first;
            contents_.visit(bucket, [&](const ContentRecord& record) {
                if (!first || record.hash != first->hash) {
                    first = record;
                    return;
                }
                is_copy_[record.document] = 1;
                clusters_->unite(first->document, record.document);
            });
            progress.advance();
        });
    }

    void write() {
        const std::function<bool(std::uint32_t)> kept = [this](std::uint32_t document) { return is_kept(document); };
        const int bits = 32 - std::countl_zero(documents_.size());
        RecordSorter<SentencePlace> places(settings_.output, share(of_places), settings_.threads, bits);
        if (settings_.sentence_limit > 0) {
            const RepeatedSentences found = find_repeated_sentences(sentences_, settings_.sentence_limit, settings_.examples,
                                                                    settings_.threads, kept, places);
            report_.repeated_sentences = found.distinct;
            for (const RepeatedSentence& repeated : found.examples) add_example(repeated);
        } else {
            places.finish();
        }
        write_atomically(settings_.output / "text.txt", [&](std::ostream& out) {
            DeduplicatedText text(documents_, kept, out, report_);
            for (std::size_t bucket = 0; bucket < places.buckets; ++bucket)
                places.visit(bucket, [&](const SentencePlace& place) { text.leave_out(place); });
            text.finish();
            remove_text_lineage(settings_.output / "text.txt");  // of the text that is replaced
        });
        write_text_lineage(settings_.output / "text.txt", digest_of_file(settings_.output / "text.txt"), std::move(inputs_));
        write_atomically(settings_.output / "duplicates.tsv", [this](std::ostream& out) { write_removed(out); });
        write_atomically(settings_.output / "report.txt", report_text(report_));
        write_atomically(settings_.output / "report.json", report_json(report_));
    }

    void write_removed(std::ostream& out) {
        std::vector<std::uint32_t> cluster_sizes(documents_.size());
        out << "removed\tkept\tkind\tremoved_source\n";
        PhaseProgress progress("listing duplicates", documents_.size());
        for (std::uint32_t document = 0; document < documents_.size(); ++document) {
            progress.advance();
            const std::uint32_t first = clusters_->first_of(document);
            const std::uint32_t size = ++cluster_sizes[first];
            report_.clusters += size == 2;
            if (size > 1) report_.largest_cluster = std::max<std::uint64_t>(report_.largest_cluster, size);
            if (first == document) continue;
            const bool equal = is_copy_[document] != 0;
            ++(equal ? report_.equal_documents : report_.near_duplicates);
            std::vector<DuplicateExample>& examples = equal ? report_.equal_examples : report_.near_examples;
            if (examples.size() < settings_.examples) examples.push_back(example_of(document, first));
            out << document << '\t' << first << '\t' << (equal ? "equal" : "near") << '\t'
                << displayable(documents_.source_of(document)) << '\n';
        }
    }

    DuplicateExample example_of(std::uint32_t removed, std::uint32_t kept) const {
        const StoredDocument a = documents_.read(removed), b = documents_.read(kept);
        ShingleCache sets(documents_, settings_.shingle_words, 0);
        const ShingleCache::Set set = sets.of(removed);
        return {removed,
                kept,
                displayable(a.source),
                displayable(b.source),
                beginning_of(a.text),
                beginning_of(b.text),
                jaccard(*set, *sets.of(kept))};
    }

    void add_example(const RepeatedSentence& repeated) {
        const StoredDocument first = documents_.read(repeated.first.document);
        std::size_t begin = 0;
        for (std::uint32_t line = 0; line < repeated.first.line; ++line) begin = first.text.find('\n', begin) + 1;
        const std::string_view sentence = std::string_view(first.text).substr(begin, first.text.find('\n', begin) - begin);
        report_.sentence_examples.push_back({repeated.times, beginning_of(sentence), displayable(first.source)});
    }

    const DeduplicationSettings& settings_;
    Bands bands_of_document_;
    MinHash min_hash_;
    DocumentStore documents_;
    RecordSorter<ContentRecord> contents_;
    RecordSorter<BandRecord> bands_;
    RecordSorter<SentenceRecord> sentences_;
    std::optional<Clusters> clusters_;
    std::vector<unsigned char> is_copy_;  ///< by document: equals an earlier one
    DeduplicationReport report_;
    std::vector<FileDigest> inputs_;
};

}  // namespace

DeduplicationReport deduplicate(const DeduplicationSettings& settings) {
    TaskPool pool(settings.threads);
    DocumentReader reader(settings.inputs, settings.reading, pool,
                          settings.memory * of_reading / twentieths / bytes_per_byte_read);
    check_deduplication(settings, reader.files());
    const FileLock alone(settings.output, concat("--output ", settings.output.string(), ": another process is writing into this ",
                                                 "folder\n  do: wait for it, or choose another --output"));
    return Deduplication(settings).run(reader, pool);
}

}  // namespace bertpretrain
