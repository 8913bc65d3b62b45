#include "batches/build_batch.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "core/error.h"
#include "core/rounding.h"

namespace bertpretrain {
namespace {

/// The sizes of a micro-batch's axes, fillers included.
struct Axes {
    std::int64_t A, B, T, M;
};

/// Hands out consecutive parts of a tensor, each aligned to a cache line.
class Parts {
public:
    explicit Parts(const at::Tensor& numbers) : numbers_(numbers) {}
    static std::int64_t room_for(std::int64_t elements) { return rounded_up(elements, cache_line_elements); }

    at::Tensor take(std::int64_t elements) {
        const std::int64_t begin = end_;
        end_ += room_for(elements);
        return numbers_.narrow(0, begin, elements);
    }

private:
    static constexpr std::int64_t cache_line_elements = 8;
    const at::Tensor& numbers_;
    std::int64_t end_ = 0;
};

std::int64_t elements_of(const Axes& axes, const SequenceLayout& layout) {
    const std::int64_t R = axes.B + axes.M;
    return Parts::room_for(layout.wide_tiles.count) + Parts::room_for(layout.narrow_tiles.count) + Parts::room_for(axes.A + 1) +
           3 * Parts::room_for(axes.A) + Parts::room_for(axes.B) + 4 * Parts::room_for(axes.T) + 3 * Parts::room_for(R) +
           Parts::room_for(axes.M);
}

/// Makes all tensors of the batch views of `numbers`.
void set_tensors(MicroBatch& batch, at::Tensor numbers, const Axes& axes) {
    const std::int64_t R = axes.B + axes.M;
    batch.numbers = std::move(numbers);
    Parts parts(batch.numbers);
    batch.layout.device_starts_B1 = parts.take(axes.A + 1);
    batch.layout.device_samples_B = parts.take(axes.A);
    for (SequenceTiles* const tiles : {&batch.layout.wide_tiles, &batch.layout.narrow_tiles}) {
        tiles->device_tiles_P = parts.take(tiles->count);
        tiles->device_first_tile_B = parts.take(axes.A);
    }
    batch.next_sentence_labels_B = parts.take(axes.B);
    batch.input_ids_T = parts.take(axes.T);
    batch.token_type_ids_T = parts.take(axes.T);
    batch.position_ids_T = parts.take(axes.T);
    batch.samples_T = parts.take(axes.T);
    batch.read_rows_R = parts.take(R);
    batch.read_positions_R = parts.take(R);
    batch.read_samples_R = parts.take(R);
    batch.masked_labels_M = parts.take(axes.M);
    batch.masked_rows_M = batch.read_rows_R.narrow(0, axes.B, axes.M);
}

std::span<std::int64_t> values_of(const at::Tensor& tensor) {
    return {tensor.data_ptr<std::int64_t>(), static_cast<std::size_t>(tensor.numel())};
}

/// Writes `values`, then fillers; only fillers where `values` is empty.
void write_filled(const at::Tensor& tensor, std::span<const std::int64_t> values, std::int64_t filler = 0) {
    const std::span<std::int64_t> to = values_of(tensor);
    std::fill(std::copy(values.begin(), values.end(), to.begin()), to.end(), filler);
}

/// Writes the parts of a tensor one after the other.
class Writer {
public:
    /// @param filler stands wherever nothing is written
    explicit Writer(const at::Tensor& tensor, std::int64_t filler = 0) : to_(values_of(tensor)) {
        std::ranges::fill(to_, filler);
    }
    /// Writes `values` + `offset`, or skips `count` elements if there are no values.
    void write(const std::vector<std::int64_t>& values, std::int64_t count, std::int64_t offset = 0) {
        std::ranges::transform(values, to_.begin() + written_, [&](std::int64_t value) { return value + offset; });
        written_ += count;
    }
    std::int64_t written() const { return written_; }

private:
    std::span<std::int64_t> to_;
    std::int64_t written_ = 0;
};

/// Which token of which sequence each row is: its position, and the keys of its dropout.
void fill_row_keys(const SequenceLayout& layout, const at::Tensor& positions_T, const at::Tensor& samples_T) {
    write_filled(positions_T, {});
    write_filled(samples_T, {});
    const std::span<std::int64_t> positions = values_of(positions_T), samples = values_of(samples_T);
    for (std::size_t b = 0; b < layout.samples_B.size(); ++b) {
        const auto start = static_cast<std::size_t>(layout.starts_B1[b]);
        const std::size_t length = static_cast<std::size_t>(layout.starts_B1[b + 1]) - start;
        const std::span<std::int64_t> of_sequence = positions.subspan(start, length);
        std::iota(of_sequence.begin(), of_sequence.end(), std::int64_t{0});
        std::ranges::fill(samples.subspan(start, length), layout.samples_B[b]);
    }
}

void pick(const at::Tensor& from_T, const at::Tensor& index_R, const at::Tensor& to_R) {
    const std::span<std::int64_t> from = values_of(from_T), index = values_of(index_R);
    std::ranges::transform(index, values_of(to_R).begin(), [&](std::int64_t row) { return from[static_cast<std::size_t>(row)]; });
}

/// Lengths and numbers of sequences, as host_layout() takes them.
struct Sequences {
    std::vector<std::int64_t> lengths, numbers;
};

void append(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& numbers, Sequences& to) {
    to.lengths.insert(to.lengths.end(), lengths.begin(), lengths.end());
    to.numbers.insert(to.numbers.end(), numbers.begin(), numbers.end());
}

/// Appends the spans of attention. A sample's k-th span (from 0) has the sample's number + k * 2^48, so that no two spans have
/// the same dropout.
void append_spans(const UnpaddedSamples& samples, Sequences& spans) {
    constexpr int number_bits = 48;
    if (samples.attention_lengths_A.empty()) return append(samples.lengths_B, samples.numbers_B, spans);
    auto span = samples.attention_lengths_A.begin();
    const auto end = samples.attention_lengths_A.end();
    for (std::size_t b = 0; b < samples.numbers_B.size(); ++b)
        for (std::int64_t left = samples.lengths_B[b], k = 0; left > 0; left -= *span++, ++k) {
            check(span != end && *span <= left, "a span of attention crosses samples, or there is none for sample ", b);
            spans.lengths.push_back(*span);
            spans.numbers.push_back(samples.numbers_B[b] + (k << number_bits));
        }
    check(span == end, "there are spans of attention after the last sample");
}

void check_sizes(const UnpaddedSamples& samples) {
    const std::size_t size = samples.numbers_B.size();
    check(samples.lengths_B.size() == size, samples.lengths_B.size(), " lengths for ", size, " samples");
    const std::int64_t tokens = std::accumulate(samples.lengths_B.begin(), samples.lengths_B.end(), std::int64_t{0});
    check(std::ssize(samples.input_ids_T) == tokens, samples.input_ids_T.size(), " ids for ", tokens, " tokens");
    check(samples.token_type_ids_T.empty() || std::ssize(samples.token_type_ids_T) == tokens, samples.token_type_ids_T.size(),
          " token types for ", tokens, " tokens");
    check(samples.next_sentence_labels_B.empty() || samples.next_sentence_labels_B.size() == size,
          samples.next_sentence_labels_B.size(), " labels of next sentences for ", size, " samples");
    check(samples.masked_rows_M.size() == samples.masked_labels_M.size(), samples.masked_rows_M.size(), " masked rows with ",
          samples.masked_labels_M.size(), " labels");
    for (const std::int64_t row : samples.masked_rows_M)
        check(row >= 0 && row < tokens, "masked row ", row, " of ", tokens, " tokens");
}

}  // namespace

MicroBatch build_batch(std::span<const UnpaddedSamples> samples, at::Device device) {
    Sequences whole, spans, counted;  // `counted`: those in which positions count from 0
    MicroBatch batch;
    for (const UnpaddedSamples& part : samples) {
        check_sizes(part);
        append(part.lengths_B, part.numbers_B, whole);
        append_spans(part, spans);
        if (part.is_packed) append_spans(part, counted);
        else append(part.lengths_B, part.numbers_B, counted);
        batch.masked_positions += std::ssize(part.masked_rows_M);
    }
    const SequenceLayout layout = host_layout(whole.lengths, whole.numbers);
    batch.layout = host_layout(spans.lengths, spans.numbers);
    const Axes axes{batch.layout.sequences(), layout.sequences(), rounded_up(batch.tokens(), token_multiple(device)),
                    rounded_up(batch.masked(), masked_multiple)};
    const bool pinned = !device.is_cpu();
    const c10::OptionalDeviceGuard guard(pinned ? std::optional(device) : std::nullopt);
    set_tensors(batch, at::empty({elements_of(axes, batch.layout)}, at::TensorOptions(at::kLong).pinned_memory(pinned)), axes);

    write_filled(batch.layout.device_starts_B1, batch.layout.starts_B1);
    write_filled(batch.layout.device_samples_B, batch.layout.samples_B);
    for (const SequenceTiles& tiles : {batch.layout.wide_tiles, batch.layout.narrow_tiles}) {
        const HostTiles values = tiles_of(batch.layout, tiles.rows);
        write_filled(tiles.device_tiles_P, values.tiles_P);
        write_filled(tiles.device_first_tile_B, values.first_tile_B);
    }
    fill_row_keys(host_layout(counted.lengths, counted.numbers), batch.position_ids_T, batch.samples_T);
    write_filled(batch.read_rows_R.narrow(0, 0, axes.B), std::span(layout.starts_B1).first(whole.numbers.size()));
    Writer labels(batch.next_sentence_labels_B), ids(batch.input_ids_T), types(batch.token_type_ids_T), rows(batch.masked_rows_M),
        masked_labels(batch.masked_labels_M, -1);
    for (const UnpaddedSamples& part : samples) {
        const std::int64_t tokens = std::ssize(part.input_ids_T), first = ids.written();
        labels.write(part.next_sentence_labels_B, std::ssize(part.numbers_B));
        ids.write(part.input_ids_T, tokens);
        types.write(part.token_type_ids_T, tokens);
        rows.write(part.masked_rows_M, std::ssize(part.masked_rows_M), first);
        masked_labels.write(part.masked_labels_M, std::ssize(part.masked_labels_M));
    }
    pick(batch.position_ids_T, batch.read_rows_R, batch.read_positions_R);
    pick(batch.samples_T, batch.read_rows_R, batch.read_samples_R);
    return batch;
}

MicroBatch to_device(MicroBatch batch, at::Device device) {
    if (batch.device() == device) return batch;
    const Axes axes{batch.layout.sequences(), batch.sequences(), batch.input_ids_T.numel(), batch.masked_labels_M.numel()};
    set_tensors(batch, batch.numbers.to(device, /*non_blocking=*/true), axes);
    return batch;
}

}  // namespace bertpretrain
