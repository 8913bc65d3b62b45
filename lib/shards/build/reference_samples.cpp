#include "shards/build/reference_samples.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/files/files.h"
#include "core/threads/threads.h"
#include "shards/build/python_rng.h"
#include "text/line_ends.h"
#include "text/white_space.h"

namespace bertpretrain {
namespace {

constexpr std::size_t lines_at_once = 4096;

/// Returns the documents, shuffled by `rng`.
Documents shuffled(const Documents& documents, Rng& rng) {
    std::vector<std::uint32_t> order(documents.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    rng.shuffle(order);
    Documents result;
    result.reserve(documents.token_count(), documents.first_sentence(documents.size()), documents.size());
    for (const std::uint32_t d : order) {
        result.begin_document(documents.number(d));
        for (std::uint32_t s = documents.first_sentence(d); s < documents.first_sentence(d + 1); ++s)
            result.add_sentence(
                documents.tokens(documents.sentence_begin(s), documents.sentence_begin(s + 1) - documents.sentence_begin(s)));
    }
    return result;
}

}  // namespace

Documents read_reference_text(const std::filesystem::path& file, const Tokenizer& tokenizer, std::size_t threads) {
    const std::string text = read_file(file);
    std::vector<std::string_view> lines;
    for_each_universal_line(text, [&](std::string_view line) { lines.push_back(line); });
    Documents documents;
    bool is_open = false;
    std::uint32_t number = 0;
    struct Line {
        bool is_blank;
        std::vector<std::int32_t> ids;
    };
    const auto tokenize = [&](std::size_t part) {
        std::vector<Line> result;
        const std::size_t end = std::min(lines.size(), (part + 1) * lines_at_once);
        for (std::size_t i = part * lines_at_once; i < end; ++i)
            result.push_back(is_blank_line(lines[i]) ? Line{true, {}} : Line{false, tokenizer.encode(lines[i])});
        return result;
    };
    for_each_in_order(
        (lines.size() + lines_at_once - 1) / lines_at_once, threads, tokenize, [&](std::size_t, const std::vector<Line>& part) {
            for (const Line& line : part) {
                if (line.is_blank) is_open = false;
                if (line.ids.empty()) continue;
                if (!is_open) documents.begin_document(number++);
                is_open = true;
                documents.add_sentence(line.ids);
                if (documents.token_count() > std::numeric_limits<std::uint32_t>::max())
                    throw DataError(concat(file.string(), ": has more than 2^32 tokens; split it into several files"));
            }
        });
    if (documents.size() == 0) throw DataError(concat(file.string(), ": contains no tokens; expected one sentence per line"));
    return documents;
}

ReferenceSamples::ReferenceSamples(const Documents& documents, SampleRules rules) : rules_(std::move(rules)) {
    PythonRng rng(rules_.seed);
    documents_ = shuffled(documents, rng);
    ShardRows row;
    const auto add = [&](const SentencePair& pair) {
        row = empty_rows(1, rules_.pairs.sequence_length, rules_.masking.max_predictions);
        const std::span<std::int32_t> tokens = put_pair(documents_, pair, rules_.special_ids, row, 0);
        const MaskedTokens masked = mask_tokens(tokens, rules_.masking, rules_.special_ids, rules_.vocabulary_size, rng);
        change_begins_.push_back(changes_.size());
        for (const std::int32_t position : masked.positions)
            changes_.push_back({static_cast<std::uint16_t>(position), tokens[static_cast<std::size_t>(position)]});
        pairs_.push_back(pair);
    };
    for (std::int64_t duplicate = 0; duplicate < rules_.duplicate_factor; ++duplicate)
        for (std::size_t d = 0; d < documents_.size(); ++d) build_pairs(documents_, d, rules_.pairs, rng, add);
    change_begins_.push_back(changes_.size());
    check(pairs_.size() <= std::numeric_limits<std::uint32_t>::max(), "a text has at most 2^32 - 1 samples, not ", pairs_.size());
    order_.resize(pairs_.size());
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    rng.shuffle(order_);
}

std::int64_t ReferenceSamples::token_count() const { return total_length(pairs_); }

ShardRows ReferenceSamples::rows(std::int64_t first, std::int64_t count) const {
    ShardRows rows = empty_rows(count, rules_.pairs.sequence_length, rules_.masking.max_predictions);
    MaskedTokens masked;
    for (std::int64_t r = 0; r < count; ++r) {
        const std::uint32_t pair = order_[static_cast<std::size_t>(first + r)];
        const std::span<std::int32_t> tokens = put_pair(documents_, pairs_[pair], rules_.special_ids, rows, r);
        masked.positions.clear();
        masked.labels.clear();
        for (std::uint64_t c = change_begins_[pair]; c < change_begins_[pair + 1]; ++c) {
            masked.positions.push_back(changes_[c].position);
            masked.labels.push_back(std::exchange(tokens[changes_[c].position], changes_[c].id));
        }
        put_masked(masked, rows, r);
    }
    return rows;
}

}  // namespace bertpretrain
