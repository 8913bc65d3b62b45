#include "shards/duplicate_rows.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "shards/dynamic_masking.h"
#include "shards/shard_statistics.h"

namespace bertpretrain {
namespace {

constexpr std::size_t passage_tokens = 13;

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

/// Returns the first segment without [CLS] and [SEP].
std::span<const std::int32_t> first_segment(const ShardRows& rows, std::int64_t row) {
    const std::int64_t length = row_length(rows, row), begin = row * rows.sequence_length;
    const std::int8_t* segments_S = rows.segment_ids_RS.data() + begin;
    const std::int64_t end = std::find(segments_S, segments_S + length, std::int8_t{1}) - segments_S;
    if (end < 2) return {};
    return std::span(rows.input_ids_RS).subspan(static_cast<std::size_t>(begin) + 1, static_cast<std::size_t>(end) - 2);
}

/// Returns the minimum hash of a segment's passages, or nullopt if the segment is shorter than a passage.
std::optional<std::uint64_t> passage_key(std::span<const std::int32_t> segment) {
    std::optional<std::uint64_t> least;
    for (std::size_t begin = 0; begin + passage_tokens <= segment.size(); ++begin) {
        std::uint64_t hash = 0;
        for (const std::int32_t token : segment.subspan(begin, passage_tokens)) hash = mix(hash, token);
        least = std::min(hash, least.value_or(hash));
    }
    return least;
}

std::int64_t count_repeated(std::vector<std::uint64_t> keys) {
    std::sort(keys.begin(), keys.end());
    return keys.end() - std::unique(keys.begin(), keys.end());
}

/// Returns the share of keys that occur more than `most` times.
double share_above(std::vector<std::uint64_t> keys, std::int64_t most) {
    std::sort(keys.begin(), keys.end());
    std::int64_t above = 0;
    for (auto begin = keys.begin(); begin != keys.end();) {
        const auto end = std::find_if(begin, keys.end(), [&](std::uint64_t key) { return key != *begin; });
        if (end - begin > most) above += end - begin;
        begin = end;
    }
    return keys.empty() ? 0 : static_cast<double>(above) / static_cast<double>(keys.size());
}

}  // namespace

void RowKeys::add(ShardRows added) {
    for (std::int64_t r = 0; r < added.rows; ++r) rows.push_back(row_hash(added, r));
    restore_text(added);
    for (std::int64_t r = 0; r < added.rows; ++r) {
        texts.push_back(text_hash(added, r));
        const std::optional<std::uint64_t> key = passage_key(first_segment(added, r));
        if (key && mix(0, static_cast<std::int64_t>(*key)) % 8 == 0) passages.push_back(*key);
    }
}

void RowKeys::add(const RowKeys& other) {
    rows.insert(rows.end(), other.rows.begin(), other.rows.end());
    texts.insert(texts.end(), other.texts.begin(), other.texts.end());
    passages.insert(passages.end(), other.passages.begin(), other.passages.end());
}

Duplicates count_duplicates(const RowKeys& training, const RowKeys& held_out, std::optional<std::int64_t> duplicate_factor) {
    RowKeys all = training;
    all.add(held_out);
    Duplicates found;
    found.rows = count_repeated(std::move(all.rows));
    found.texts = count_repeated(std::move(all.texts));
    if (duplicate_factor) found.repeated_documents = share_above(std::move(all.passages), *duplicate_factor);
    std::vector<std::uint64_t> trained = training.texts;
    std::sort(trained.begin(), trained.end());
    found.held_out_trained = std::count_if(held_out.texts.begin(), held_out.texts.end(), [&](std::uint64_t text) {
        return std::binary_search(trained.begin(), trained.end(), text);
    });
    return found;
}

}  // namespace bertpretrain
