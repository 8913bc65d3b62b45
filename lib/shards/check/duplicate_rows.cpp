#include "shards/check/duplicate_rows.h"

#include <algorithm>
#include <utility>

#include "shards/check/shard_statistics.h"

namespace bertpretrain {
namespace {

std::uint64_t mix(std::uint64_t hash, std::int64_t value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15;
    return hash ^ (hash >> 32);
}

std::uint64_t text_hash(const ShardRows& rows, std::int64_t row) {
    const std::int64_t length = row_length(rows, row);
    const std::int64_t label = rows.has_labels() ? rows.next_sentence_labels_R[static_cast<std::size_t>(row)] : 0;
    std::uint64_t hash = mix(0x6265727470726574, label);
    for (std::int64_t s = 0; s < length; ++s) {
        const auto at = static_cast<std::size_t>(row * rows.sequence_length + s);
        hash = mix(hash, rows.input_ids_RS[at] * std::int64_t{2} + rows.segment_ids_RS[at]);
    }
    return hash;
}

std::uint64_t row_hash(const ShardRows& rows, std::int64_t row) {
    std::uint64_t hash = text_hash(rows, row);
    const std::int64_t masked = row_masked(rows, row);
    for (std::int64_t p = 0; p < masked; ++p) {
        const auto at = static_cast<std::size_t>(row * rows.max_predictions + p);
        hash = mix(mix(hash, rows.masked_lm_positions_RP[at]), rows.masked_lm_ids_RP[at]);
    }
    return hash;
}

std::int64_t count_repeated(std::vector<std::uint64_t> keys) {
    std::sort(keys.begin(), keys.end());
    return keys.end() - std::unique(keys.begin(), keys.end());
}

}  // namespace

void RowKeys::add(const ShardRows& stored, const ShardRows& unmasked) {
    for (std::int64_t r = 0; r < stored.rows; ++r) {
        rows.push_back(row_hash(stored, r));
        texts.push_back(text_hash(unmasked, r));
    }
}

void RowKeys::add(const RowKeys& other) {
    rows.insert(rows.end(), other.rows.begin(), other.rows.end());
    texts.insert(texts.end(), other.texts.begin(), other.texts.end());
}

Duplicates count_duplicates(const RowKeys& training, const RowKeys& held_out) {
    RowKeys all = training;
    all.add(held_out);
    Duplicates found;
    found.rows = count_repeated(std::move(all.rows));
    found.texts = count_repeated(std::move(all.texts));
    std::vector<std::uint64_t> trained = training.texts;
    std::sort(trained.begin(), trained.end());
    found.held_out_trained = std::count_if(held_out.texts.begin(), held_out.texts.end(), [&](std::uint64_t text) {
        return std::binary_search(trained.begin(), trained.end(), text);
    });
    return found;
}

}  // namespace bertpretrain
