#pragma once
// Writes the documents that are left.

#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include "core/output/phase_progress.h"
#include "deduplication/deduplication_report.h"
#include "deduplication/document_store.h"
#include "deduplication/repeated_sentences.h"

namespace bertpretrain {

/// Writes documents in order: their sentences one per line, and an empty line after each document. Not thread-safe.
class DeduplicatedText {
public:
    /// @param counts kept_documents, kept_sentences, kept_bytes, emptied_documents and removed_sentences are counted
    DeduplicatedText(const DocumentStore& documents, const std::function<bool(std::uint32_t)>& is_kept, std::ostream& out,
                     DeduplicationReport& counts)
        : documents_(documents), is_kept_(is_kept), out_(out), counts_(counts), progress_("writing the text", documents.size()) {}

    /// Leaves out a sentence. Call it in ascending order of places.
    void leave_out(const SentencePlace& place);
    /// Writes all documents that are not written yet.
    void finish();

private:
    void write_until(std::uint32_t end);
    void write(std::uint32_t document);

    const DocumentStore& documents_;
    const std::function<bool(std::uint32_t)>& is_kept_;
    std::ostream& out_;
    DeduplicationReport& counts_;
    PhaseProgress progress_;
    std::uint32_t next_ = 0;
    std::vector<std::uint32_t> left_out_;  ///< lines of the document `next_`
};

}  // namespace bertpretrain
