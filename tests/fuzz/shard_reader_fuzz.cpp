// Our part of the shard reader, which starts from a dataset's description and its raw chunks. Any description and any bytes give
// values or one DataError; valid chunks give the same values as plain loops; rows that pass the check are usable.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <zlib.h>

#include "core/error.h"
#include "shards/check/common_passages.h"
#include "shards/check/duplicate_rows.h"
#include "shards/check/row_check.h"
#include "shards/check/shard_statistics.h"
#include "shards/chunked_dataset.h"
#include "shards/dynamic_masking.h"
#include "shards/sample_rows.h"

using namespace bertpretrain;

namespace {

using Bytes = std::vector<unsigned char>;

/// Returns the fuzzer's bytes one after the other, then zeros.
struct Input {
    std::span<const unsigned char> left;

    std::uint64_t number(std::uint64_t limit, int bytes = 1) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes && !left.empty(); ++i) {
            value = value << 8 | left.front();
            left = left.subspan(1);
        }
        return value % limit;
    }
    std::int64_t size(std::uint64_t most) { return 1 + static_cast<std::int64_t>(number(most, 2)); }
    bool flag() { return number(2) == 1; }
};

ChunkedDataset any_description(Input& input) {
    ChunkedDataset dataset;
    dataset.what = "fuzz.h5: dataset";
    dataset.rows = input.size(300);
    dataset.columns = input.size(140);
    dataset.chunk_rows = input.size(300);
    dataset.chunk_columns = input.size(140);
    dataset.value_bytes = std::int64_t{1} << input.number(4);
    dataset.is_signed = input.flag();
    dataset.is_deflated = input.flag();
    dataset.is_shuffled = input.flag();
    return dataset;
}

/// Returns the chunk's value at a position, computed by a plain loop.
template <class Value>
Value value_at(const ChunkedDataset& dataset, const Bytes& chunk, std::int64_t row, std::int64_t column) {
    const auto bytes = static_cast<std::size_t>(dataset.value_bytes);
    const std::size_t at = static_cast<std::size_t>(row * dataset.chunk_columns + column) * bytes;
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < bytes; ++b) bits |= std::uint64_t{chunk[at + b]} << (8 * b);
    const bool is_negative = dataset.is_signed && (chunk[at + bytes - 1] & 0x80) != 0;
    if (is_negative && bytes < 8) bits |= ~std::uint64_t{0} << (8 * bytes);
    constexpr auto least = std::numeric_limits<Value>::min(), most = std::numeric_limits<Value>::max();
    if (is_negative) return static_cast<Value>(std::max<std::int64_t>(static_cast<std::int64_t>(bits), least));
    return static_cast<Value>(std::min<std::uint64_t>(bits, static_cast<std::uint64_t>(most)));
}

template <class Value>
std::vector<Value> read_rows(const ChunkedDataset& dataset, const Bytes& file, std::int64_t first, std::int64_t count) {
    const ReadAt read_at = [&](std::uint64_t offset, std::span<unsigned char> to) {
        if (offset > file.size() || to.size() > file.size() - offset) std::abort();  // require_plausible() should have refused it
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    };
    std::vector<Value> values(static_cast<std::size_t>(count * dataset.columns));
    for (const ChunkGroup& group : groups_of(dataset, first, count))
        read_group(dataset, group, read_at, first, std::span(values));
    return values;
}

/// Chunks at positions and with bytes from the fuzzer.
void read_any_file(Input& input) {
    ChunkedDataset dataset = any_description(input);
    const std::uint64_t chunks = input.number(64);
    for (std::uint64_t c = 0; c < chunks; ++c) dataset.chunks.push_back({input.number(1 << 16, 2), input.number(1 << 16, 2)});
    const Bytes file(input.left.begin(), input.left.end());
    require_plausible(dataset, file.size());
    const std::int64_t first = static_cast<std::int64_t>(input.number(static_cast<std::uint64_t>(dataset.rows), 2));
    read_rows<std::int32_t>(dataset, file, first, dataset.rows - first);
    read_rows<std::int8_t>(dataset, file, 0, dataset.rows);
}

void compress_into(const ChunkedDataset& dataset, const Bytes& chunk, Bytes& file) {
    Bytes stored = chunk;
    const auto bytes = static_cast<std::size_t>(dataset.value_bytes), values = chunk.size() / bytes;
    if (dataset.is_shuffled)
        for (std::size_t i = 0; i < chunk.size(); ++i) stored[i % bytes * values + i / bytes] = chunk[i];
    if (dataset.is_deflated) {
        uLongf size = ::compressBound(stored.size());
        Bytes deflated(size);
        if (::compress2(deflated.data(), &size, stored.data(), stored.size(), 1) != Z_OK) std::abort();
        deflated.resize(size);
        stored = deflated;
    }
    file.insert(file.end(), stored.begin(), stored.end());
}

/// A file as a writer makes it, possibly with one byte changed.
void read_written_file(Input& input) {
    ChunkedDataset dataset = any_description(input);
    if (dataset.chunks_across() * dataset.chunks_down() * dataset.chunk_bytes() > 1 << 20) return;
    const bool is_damaged = input.flag();
    const std::uint64_t place = input.number(1 << 16, 2), change = input.number(256);
    Bytes file;
    std::vector<Bytes> chunks;
    for (std::int64_t c = 0; c < dataset.chunks_across() * dataset.chunks_down(); ++c) {
        Bytes& chunk = chunks.emplace_back(static_cast<std::size_t>(dataset.chunk_bytes()));
        for (unsigned char& byte : chunk) byte = static_cast<unsigned char>(input.number(256));
        const std::uint64_t offset = file.size();
        compress_into(dataset, chunk, file);
        dataset.chunks.push_back({offset, file.size() - offset});
    }
    if (is_damaged) file[place % file.size()] ^= static_cast<unsigned char>(change);
    require_plausible(dataset, file.size());
    const auto wide = read_rows<std::int32_t>(dataset, file, 0, dataset.rows);
    const auto narrow = read_rows<std::int8_t>(dataset, file, 0, dataset.rows);
    if (is_damaged) return;
    for (std::int64_t r = 0; r < dataset.rows; ++r)
        for (std::int64_t c = 0; c < dataset.columns; ++c) {
            const std::int64_t chunk = r / dataset.chunk_rows * dataset.chunks_across() + c / dataset.chunk_columns;
            const std::int64_t row = r % dataset.chunk_rows, column = c % dataset.chunk_columns;
            const auto at = static_cast<std::size_t>(r * dataset.columns + c);
            const Bytes& bytes = chunks[static_cast<std::size_t>(chunk)];
            if (wide[at] != value_at<std::int32_t>(dataset, bytes, row, column)) std::abort();
            if (narrow[at] != value_at<std::int8_t>(dataset, bytes, row, column)) std::abort();
        }
}

/// Checks that any rows are either refused or usable.
void use_rows(Input& input) {
    constexpr std::int32_t vocabulary_size = 60;
    ShardRows rows;
    rows.rows = input.size(4);
    rows.sequence_length = input.size(24);
    rows.max_predictions = input.size(6);
    const auto fill = [&](auto& values, std::int64_t columns) {
        values.resize(static_cast<std::size_t>(rows.rows * columns));
        for (auto& value : values)
            value = static_cast<std::remove_reference_t<decltype(value)>>(static_cast<std::int8_t>(input.number(256)));
    };
    fill(rows.input_mask_RS, rows.sequence_length);
    fill(rows.masked_lm_positions_RP, rows.max_predictions);
    fill(rows.next_sentence_labels_R, 1);
    fill(rows.segment_ids_RS, rows.sequence_length);
    fill(rows.masked_lm_ids_RP, rows.max_predictions);
    fill(rows.input_ids_RS, rows.sequence_length);
    if (input.flag())
        for (std::int64_t r = 0; r < rows.rows; ++r) rows.input_ids_RS[static_cast<std::size_t>(r * rows.sequence_length)] = 2;
    check_rows(rows, vocabulary_size, "fuzz.h5");
    ShardRows unmasked = rows;
    restore_text(unmasked);
    ShardContent content;
    content.add(rows, unmasked, SpecialIds{0, 1, 2, 3, 4});
    RowKeys keys;
    keys.add(rows, unmasked);
    PassageSample sample;
    sample.add(ShardKind::held_out, unmasked);
    sample.seal();
    sample.count(ShardKind::training, unmasked);
    sample.result(1);
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(rows.rows));
    DynamicMasking masking{{0.3, 8, {}}, {0, 1, 2, 3, 4}, vocabulary_size, 1};
    if (input.flag()) masking.masking.continues_word.assign(vocabulary_size, 1);
    check_rows(bertpretrain::testing::mask_again(rows, numbers, masking), vocabulary_size, "masked again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    Input input{{data, size}};
    try {
        switch (input.number(3)) {
            case 0:
                read_any_file(input);
                break;
            case 1:
                read_written_file(input);
                break;
            default:
                use_rows(input);
        }
    } catch (const DataError&) {}
    return 0;
}
