#pragma once
// Makes the same samples from a text as a reference script, value for value.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "shards/build/sample.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

/// Reads and tokenizes a text file with one sentence per line, as Python reads it: lines end at "\n", "\r" or "\r\n", and a
/// line of white space only (Python's str.isspace) ends a document. Omits sentences without tokens and documents without
/// sentences. @throws DataError if the file cannot be read, has no token, or more than 2^32 tokens
Documents read_reference_text(const std::filesystem::path& text, const Tokenizer& tokenizer, std::size_t threads);

/// create_training_instances() of both scripts. All random numbers come from one generator in the scripts' order, so the
/// constructor makes all samples of a text on one thread. Keeps the documents' tokens, and per sample 16 bytes and its masks.
/// Source: google-research/bert @eedf571, NVIDIA DeepLearningExamples @56ccaf8.
class ReferenceSamples {
public:
    ReferenceSamples(const Documents& documents, SampleRules rules);

    std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }
    std::int64_t token_count() const;
    /// Returns rows [first, first + count) in the scripts' order. Thread-safe.
    ShardRows rows(std::int64_t first, std::int64_t count) const;

private:
    struct Change {
        std::uint16_t position;
        std::int32_t id;  ///< the replacement
    };

    Documents documents_;
    SampleRules rules_;
    std::vector<SentencePair> pairs_;
    std::vector<Change> changes_;               // of all samples; positions ascend within each sample
    std::vector<std::uint64_t> change_begins_;  // pair index -> index of its first change; ends with the total
    std::vector<std::uint32_t> order_;          // row -> pair index
};

}  // namespace bertpretrain
