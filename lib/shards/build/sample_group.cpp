#include "shards/build/sample_group.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/threads/threads.h"

namespace bertpretrain {
namespace {

constexpr std::size_t documents_at_once = 256;
constexpr std::int64_t rows_ahead = 4;

}  // namespace

SampleGroup::SampleGroup(Documents documents, SampleRules rules, std::uint32_t number, std::size_t threads)
    : documents_(std::move(documents)), rules_(std::move(rules)), number_(number) {
    if (rules_.packs) packed_ = pack_documents(documents_, *rules_.packs);
    else build_pairs_of_documents(threads);
    const std::size_t samples = packed_ ? packed_->rows() * static_cast<std::size_t>(rules_.duplicate_factor) : pairs_.size();
    check(samples <= std::numeric_limits<std::uint32_t>::max(), "a group has at most 2^32 - 1 samples, not ", samples);
    order_.resize(samples);
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    RandomSequence(rules_.seed, Purpose::document_order, number).shuffle(order_);
}

void SampleGroup::build_pairs_of_documents(std::size_t threads) {
    const auto pairs_of = [&](std::size_t part) {
        std::vector<SentencePair> pairs;
        const std::size_t end = std::min(documents_.size(), (part + 1) * documents_at_once);
        for (std::size_t d = part * documents_at_once; d < end; ++d)
            for (std::uint32_t duplicate = 0; duplicate < rules_.duplicate_factor; ++duplicate) {
                StreamRng rng(RandomSequence(rules_.seed, Purpose::sentence_pairs, documents_.number(d), duplicate));
                build_pairs(documents_, d, rules_.pairs, rng, [&](const SentencePair& pair) { pairs.push_back(pair); });
            }
        return pairs;
    };
    for_each_in_order(
        (documents_.size() + documents_at_once - 1) / documents_at_once, threads, pairs_of,
        [&](std::size_t, const std::vector<SentencePair>& pairs) { pairs_.insert(pairs_.end(), pairs.begin(), pairs.end()); });
}

std::int64_t SampleGroup::token_count() const {
    return packed_ ? packed_->total_length() * rules_.duplicate_factor : total_length(pairs_);
}

/// Prefetches a sample's tokens, because shuffled rows read memory at random and would each wait for a cache miss.
void SampleGroup::fetch_ahead(std::uint32_t sample) const {
    const auto fetch = [&](std::uint32_t begin, std::uint16_t size) {
        const std::span<const std::int32_t> tokens = documents_.tokens(begin, size);
        for (std::size_t t = 0; t < tokens.size(); t += 16) __builtin_prefetch(&tokens[t]);
    };
    if (packed_) {
        for (const TextPiece& piece : packed_->row(sample % packed_->rows())) fetch(piece.begin, piece.size);
        return;
    }
    fetch(pairs_[sample].a_begin, pairs_[sample].a_size);
    fetch(pairs_[sample].b_begin, pairs_[sample].b_size);
}

std::span<std::int32_t> SampleGroup::put_sample(std::uint32_t sample, ShardRows& rows, std::int64_t row) const {
    const std::span<std::int32_t> tokens =
        packed_ ? put_packed(documents_, *packed_, sample % packed_->rows(), rules_.special_ids, rows, row)
                : put_pair(documents_, pairs_[sample], rules_.special_ids, rows, row);
    const auto end = static_cast<std::ptrdiff_t>((row + 1) * rows.sequence_length);
    std::fill(tokens.data() + tokens.size(), rows.input_ids_RS.data() + end, rules_.padding);
    return tokens;
}

ShardRows SampleGroup::rows(std::int64_t first, std::int64_t count) const {
    ShardRows rows = empty_rows(count, rules_.pairs.sequence_length, rules_.masking.max_predictions, /*has_labels=*/!packed_);
    for (std::int64_t r = 0; r < count; ++r) {
        if (r + rows_ahead < count) fetch_ahead(order_[static_cast<std::size_t>(first + r + rows_ahead)]);
        const std::uint32_t sample = order_[static_cast<std::size_t>(first + r)];
        StreamRng rng(RandomSequence(rules_.seed, Purpose::masking, std::uint64_t{number_} << 32 | sample));
        const std::span<std::int32_t> tokens = put_sample(sample, rows, r);
        put_masked(mask_tokens(tokens, rules_.masking, rules_.special_ids, rules_.vocabulary_size, rng), rows, r);
    }
    return rows;
}

}  // namespace bertpretrain
