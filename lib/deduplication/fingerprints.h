#pragma once
// What is kept of each document to find its duplicates, and the records that are sorted by it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deduplication/min_hash.h"
#include "deduplication/word_hashes.h"
#include "text/document.h"

namespace bertpretrain {

/// Equal content is adjacent after sorting, the first document first.
struct ContentRecord {
    ContentHash hash;
    std::uint32_t document = 0;
    std::uint64_t key() const { return hash.high; }
    auto operator<=>(const ContentRecord&) const = default;
};

/// A band of a document's MinHash signature. The key is in two halves, so that a record takes 12 bytes.
struct BandRecord {
    std::uint32_t key_high = 0, key_low = 0, document = 0;
    std::uint64_t key() const { return std::uint64_t{key_high} << 32 | key_low; }
    auto operator<=>(const BandRecord&) const = default;
};

/// A sentence that has words, and its place: document and line.
struct SentenceRecord {
    std::uint64_t hash = 0;
    std::uint32_t document = 0, line = 0;
    std::uint64_t key() const { return hash; }
    auto operator<=>(const SentenceRecord&) const = default;
};

struct DocumentFingerprint {
    std::string source, text;               ///< as in StoredDocument
    ContentHash content;                    ///< of its words; of a document without words, of its bytes
    std::vector<std::uint64_t> bands;       ///< the keys of its bands; empty if not asked for
    std::vector<SentenceRecord> sentences;  ///< without the document's number; empty if not asked for
};

struct FingerprintSettings {
    std::size_t shingle_words = 5;
    const MinHash* min_hash = nullptr;  ///< null: no bands
    bool sentences = false;
};

/// Returns the fingerprint of each document that has a line of text. Thread-safe.
std::vector<DocumentFingerprint> fingerprints_of(const DocumentBatch& batch, const FingerprintSettings& settings);

}  // namespace bertpretrain
