#pragma once
// The samples that a reference script makes of a text, value by value.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "shards/sample.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

/// Sentences of a text file as Python reads them: lines end at "\n", "\r" or "\r\n", and one of white space alone (Python's
/// str.isspace) ends a document. Sentences without a token are left out, documents without a sentence too.
/// @throws DataError
Documents read_reference_text(const std::filesystem::path& text, const WordPiece& tokenizer, std::size_t threads);

/// create_training_instances() of both scripts: one generator draws everything, in the scripts' order, so one thread makes
/// all samples of a text and all are kept: their tokens, 16 bytes and the masks.
/// Source: google-research/bert @eedf571, NVIDIA DeepLearningExamples @56ccaf8.
class ReferenceSamples {
public:
    ReferenceSamples(const Documents& documents, SampleRules rules);

    std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }
    std::int64_t token_count() const;
    /// Rows [first, first + count) in the scripts' order. Several threads may call it at once.
    ShardRows rows(std::int64_t first, std::int64_t count) const;

private:
    struct Change {
        std::uint16_t position;
        std::int32_t id;  ///< that stands there
    };

    Documents documents_;
    SampleRules rules_;
    std::vector<SentencePair> pairs_;
    std::vector<Change> changes_;               // of all samples, positions ascending in each
    std::vector<std::uint64_t> change_begins_;  // pair -> its first change; one more at the end
    std::vector<std::uint32_t> order_;          // row -> its pair
};

}  // namespace bertpretrain
