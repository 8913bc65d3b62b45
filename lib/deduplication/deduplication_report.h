#pragma once
// What deduplicate() found.

#include <cstdint>
#include <string>
#include <vector>

namespace bertpretrain {

struct DuplicateExample {
    std::uint32_t removed = 0, kept = 0;      ///< numbers of documents, in input order from 0
    std::string removed_source, kept_source;  ///< "FILE:LINE"
    std::string removed_begin, kept_begin;    ///< the beginnings of their texts
    double jaccard = 1;  ///< of the two; below the threshold if they are similar only through other documents
};

struct SentenceExample {
    std::uint64_t times = 0;
    std::string sentence, first_source;  ///< the beginning of the sentence; the document that keeps it
};

struct DeduplicationReport {
    std::uint64_t documents = 0, sentences = 0, text_bytes = 0;   ///< that were read
    std::uint64_t equal_documents = 0;                            ///< removed by their words
    std::uint64_t near_duplicates = 0;                            ///< removed by their shingles
    std::uint64_t clusters = 0, largest_cluster = 0;              ///< of at least two documents; documents of the largest
    std::uint64_t repeated_sentences = 0, removed_sentences = 0;  ///< distinct ones; places that were removed
    std::uint64_t emptied_documents = 0;                          ///< that lost all their sentences
    std::uint64_t kept_documents = 0, kept_sentences = 0, kept_bytes = 0;
    bool near = true;
    double threshold = 0.8,
           share_at_threshold = 0;  ///< share of the pairs exactly at the threshold that are expected to be found
    std::uint64_t shingle_words = 5, sentence_limit = 0;
    std::vector<DuplicateExample> equal_examples, near_examples;  ///< the first ones in input order
    std::vector<SentenceExample> sentence_examples;               ///< the most frequent ones
};

std::string report_json(const DeduplicationReport& report);
std::string report_text(const DeduplicationReport& report);

}  // namespace bertpretrain
