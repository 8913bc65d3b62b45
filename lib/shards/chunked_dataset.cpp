#include "shards/chunked_dataset.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include <isa-l/igzip_lib.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

static_assert(std::endian::native == std::endian::little, "stored integers are copied without byte swapping");

constexpr std::int64_t cache_line_bytes = 64;
constexpr std::int64_t most_group_bytes = std::int64_t{4} << 20;  // about the size of a core's cache

/// An uninitialized buffer.
struct Scratch {
    explicit Scratch(std::size_t bytes) : bytes_(bytes), data_(std::make_unique_for_overwrite<unsigned char[]>(bytes)) {}
    std::span<unsigned char> all() const { return {data_.get(), bytes_}; }
    std::span<unsigned char> part(std::size_t index, std::size_t bytes) const { return all().subspan(index * bytes, bytes); }

private:
    std::size_t bytes_;
    std::unique_ptr<unsigned char[]> data_;
};

/// Inflates `stored`. Returns false unless it is a zlib stream of exactly `to.size()` bytes with a correct checksum.
bool inflate(std::span<const unsigned char> stored, std::span<unsigned char> to) {
    if (stored.size() > UINT32_MAX || to.size() > UINT32_MAX) return false;
    const auto state = std::make_unique_for_overwrite<inflate_state>();  // 80 KiB
    ::isal_inflate_init(state.get());
    state->crc_flag = ISAL_ZLIB;
    state->next_in = const_cast<unsigned char*>(stored.data());
    state->avail_in = static_cast<std::uint32_t>(stored.size());
    state->next_out = to.data();
    state->avail_out = static_cast<std::uint32_t>(to.size());
    return ::isal_inflate_stateless(state.get()) == ISAL_DECOMP_OK && state->avail_out == 0;
}

/// Reverses the shuffle filter: byte b of value i is at planes[b * values + i].
void unshuffle(std::span<const unsigned char> planes, std::size_t value_bytes, std::span<unsigned char> to) {
    const std::size_t values = planes.size() / value_bytes;
    for (std::size_t b = 0; b < value_bytes; ++b)
        for (std::size_t i = 0; i < values; ++i) to[i * value_bytes + b] = planes[b * values + i];
}

[[noreturn]] void refuse_chunk(const ChunkedDataset& dataset, std::size_t index, const std::string& reason) {
    throw DataError(concat(dataset.what, ": chunk ", index, " (", dataset.chunks[index].bytes, " bytes at ",
                           dataset.chunks[index].offset, ") ", reason, "; the file is damaged",
                           "\n  do: copy or build this shard again"));
}

/// Reads a chunk and reverses its filters.
void decode_chunk(const ChunkedDataset& dataset, std::size_t index, const ReadAt& read_at, std::span<unsigned char> to) {
    const StoredChunk& chunk = dataset.chunks[index];
    if (!dataset.is_deflated && !dataset.is_shuffled) return read_at(chunk.offset, to);
    Scratch stored(chunk.bytes), planes(dataset.is_deflated && dataset.is_shuffled ? to.size() : 0);
    read_at(chunk.offset, stored.all());
    if (dataset.is_deflated && !inflate(stored.all(), dataset.is_shuffled ? planes.all() : to))
        refuse_chunk(dataset, index, concat("is not a zlib stream of ", to.size(), " bytes"));
    if (dataset.is_shuffled)
        unshuffle(dataset.is_deflated ? planes.all() : stored.all(), static_cast<std::size_t>(dataset.value_bytes), to);
}

/// The requested rows of a chunk and their destination.
template <class Value>
struct Target {
    std::int64_t skip_rows, rows, columns;  ///< the part of the chunk to copy
    std::int64_t chunk_columns;
    Value* to;
    std::int64_t row_stride;
};

/// Clamps, as HDF5's conversion does, so that check_rows still finds a value that is out of range.
template <class Stored, class Value>
Value narrowed(Stored value) {
    if constexpr (sizeof(Stored) < sizeof(Value) || std::is_same_v<Stored, Value>) return static_cast<Value>(value);
    else {
        constexpr auto least = static_cast<Stored>(std::is_signed_v<Stored> ? std::numeric_limits<Value>::min() : 0);
        return static_cast<Value>(std::clamp(value, least, static_cast<Stored>(std::numeric_limits<Value>::max())));
    }
}

template <class Stored, class Value>
void copy_row(const unsigned char* from, Value* to, std::int64_t columns) {
    if constexpr (std::is_same_v<Stored, Value>) {
        std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(Value));
    } else {
        for (std::int64_t c = 0; c < columns; ++c) {
            Stored value;
            std::memcpy(&value, from + static_cast<std::size_t>(c) * sizeof(Stored), sizeof(Stored));
            to[c] = narrowed<Stored, Value>(value);
        }
    }
}

/// Copies row by row across all chunks of a group, so that each destination row is written once, sequentially.
template <class Stored, class Value>
void copy_values(const Scratch& raw, std::size_t chunk_bytes, std::span<const Target<Value>> targets) {
    for (std::int64_t r = 0; r < targets[0].rows; ++r)
        for (std::size_t t = 0; t < targets.size(); ++t) {
            const Target<Value>& target = targets[t];
            const auto row = static_cast<std::size_t>((target.skip_rows + r) * target.chunk_columns);
            const unsigned char* from = raw.all().data() + t * chunk_bytes + row * sizeof(Stored);
            Value* to = target.to + r * target.row_stride;
            if (target.columns == 2) copy_row<Stored>(from, to, 2);  // NVIDIA's chunk width, as a compile-time constant
            else copy_row<Stored>(from, to, target.columns);
        }
}

template <class Value>
void copy_as_stored(const ChunkedDataset& dataset, const Scratch& raw, std::span<const Target<Value>> targets) {
    const auto bytes = static_cast<std::size_t>(dataset.chunk_bytes());
    switch (dataset.value_bytes * (dataset.is_signed ? 1 : -1)) {
        case 1:
            return copy_values<std::int8_t>(raw, bytes, targets);
        case 2:
            return copy_values<std::int16_t>(raw, bytes, targets);
        case 4:
            return copy_values<std::int32_t>(raw, bytes, targets);
        case 8:
            return copy_values<std::int64_t>(raw, bytes, targets);
        case -1:
            return copy_values<std::uint8_t>(raw, bytes, targets);
        case -2:
            return copy_values<std::uint16_t>(raw, bytes, targets);
        case -4:
            return copy_values<std::uint32_t>(raw, bytes, targets);
        case -8:
            return copy_values<std::uint64_t>(raw, bytes, targets);
        default:
            check(false, "stored integers have 1, 2, 4 or 8 bytes, not ", dataset.value_bytes);
    }
}

template <class Value>
void read_values(const ChunkedDataset& dataset, const ChunkGroup& group, const ReadAt& read_at, std::int64_t first,
                 std::span<Value> values) {
    const std::int64_t end = first + static_cast<std::int64_t>(values.size()) / dataset.columns;
    const std::int64_t chunk_first = group.grid_row * dataset.chunk_rows;
    const std::int64_t begin = std::max(first, chunk_first), stop = std::min(end, chunk_first + dataset.chunk_rows);
    const auto index = static_cast<std::size_t>(group.grid_row * dataset.chunks_across() + group.first_column);
    Value* const target_row = values.data() + (begin - first) * dataset.columns;

    const bool is_as_wanted = dataset.value_bytes == sizeof(Value) && dataset.is_signed;
    if (is_as_wanted && dataset.chunk_columns == dataset.columns && stop - begin == dataset.chunk_rows)
        return decode_chunk(dataset, index, read_at,
                            {reinterpret_cast<unsigned char*>(target_row), static_cast<std::size_t>(dataset.chunk_bytes())});

    const auto chunks = static_cast<std::size_t>(group.chunks), chunk_bytes = static_cast<std::size_t>(dataset.chunk_bytes());
    const Scratch raw(chunks * chunk_bytes);
    std::vector<Target<Value>> targets;
    for (std::size_t c = 0; c < chunks; ++c) {
        decode_chunk(dataset, index + c, read_at, raw.part(c, chunk_bytes));
        const std::int64_t column = (group.first_column + static_cast<std::int64_t>(c)) * dataset.chunk_columns;
        targets.push_back({begin - chunk_first, stop - begin, std::min(dataset.chunk_columns, dataset.columns - column),
                           dataset.chunk_columns, target_row + column, dataset.columns});
    }
    copy_as_stored<Value>(dataset, raw, targets);
}

}  // namespace

void require_plausible(const ChunkedDataset& dataset, std::uint64_t file_bytes) {
    const auto chunks = static_cast<std::uint64_t>(dataset.chunks_across() * dataset.chunks_down());
    if (dataset.chunks.size() != chunks)
        throw DataError(concat(dataset.what, ": has ", dataset.chunks.size(), " chunks, expected ", chunks));
    const auto bytes = static_cast<std::uint64_t>(dataset.chunk_bytes());
    for (std::size_t i = 0; i < dataset.chunks.size(); ++i) {
        const StoredChunk& chunk = dataset.chunks[i];
        if (chunk.bytes > file_bytes || chunk.offset > file_bytes - chunk.bytes)
            refuse_chunk(dataset, i, concat("lies outside the file of ", file_bytes, " bytes"));
        if (dataset.is_deflated ? bytes / largest_deflate_ratio > chunk.bytes : bytes != chunk.bytes)
            refuse_chunk(dataset, i, concat("cannot contain the ", bytes, " bytes of a whole chunk"));
    }
}

std::vector<ChunkGroup> groups_of(const ChunkedDataset& dataset, std::int64_t first, std::int64_t count) {
    std::vector<ChunkGroup> groups;
    if (count == 0) return groups;
    const std::int64_t across = dataset.chunks_across();
    const std::int64_t for_a_line = cache_line_bytes / (dataset.chunk_columns * dataset.value_bytes);
    const std::int64_t together = std::max<std::int64_t>(1, std::min(for_a_line, most_group_bytes / dataset.chunk_bytes()));
    for (std::int64_t row = first / dataset.chunk_rows; row <= (first + count - 1) / dataset.chunk_rows; ++row)
        for (std::int64_t column = 0; column < across; column += together)
            groups.push_back({row, column, std::min(together, across - column)});
    return groups;
}

void read_group(const ChunkedDataset& dataset, const ChunkGroup& group, const ReadAt& read_at, std::int64_t first,
                std::span<std::int32_t> values) {
    read_values(dataset, group, read_at, first, values);
}

void read_group(const ChunkedDataset& dataset, const ChunkGroup& group, const ReadAt& read_at, std::int64_t first,
                std::span<std::int8_t> values) {
    read_values(dataset, group, read_at, first, values);
}

}  // namespace bertpretrain
