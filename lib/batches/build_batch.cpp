#include "batches/build_batch.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>

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

std::int64_t elements_of(const Axes& axes) {
    const std::int64_t R = axes.B + axes.M;
    return Parts::room_for(axes.A + 1) + Parts::room_for(axes.A) + Parts::room_for(axes.B) + 4 * Parts::room_for(axes.T) +
           3 * Parts::room_for(R) + Parts::room_for(axes.M);
}

/// Makes all tensors of the batch views of `numbers`.
void set_tensors(MicroBatch& batch, at::Tensor numbers, const Axes& axes) {
    const std::int64_t R = axes.B + axes.M;
    batch.numbers = std::move(numbers);
    Parts parts(batch.numbers);
    batch.layout.device_starts_B1 = parts.take(axes.A + 1);
    batch.layout.device_samples_B = parts.take(axes.A);
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

/// Which token of which sample each row is: the keys of its dropout.
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

/// Returns the spans of attention. A sample's k-th span (from 0) has the sample's number + k * 2^48, so that no two spans have
/// the same dropout.
SequenceLayout attention_layout(const UnpaddedSamples& samples, const SequenceLayout& whole) {
    if (samples.attention_lengths_A.empty()) return whole;
    constexpr int number_bits = 48;
    std::vector<std::int64_t> numbers_A;
    std::int64_t end = 0, of_sample = 0;
    std::size_t b = 0;
    for (const std::int64_t length : samples.attention_lengths_A) {
        check(b < samples.numbers_B.size() && end + length <= whole.starts_B1[b + 1], "a span of attention crosses samples");
        numbers_A.push_back(samples.numbers_B[b] + (of_sample++ << number_bits));
        end += length;
        if (end == whole.starts_B1[b + 1]) of_sample = 0, ++b;
    }
    check(b == samples.numbers_B.size(), "spans of attention for ", b, " of ", samples.numbers_B.size(), " samples");
    return host_layout(samples.attention_lengths_A, numbers_A);
}

void check_sizes(const UnpaddedSamples& samples, const SequenceLayout& layout) {
    const auto tokens = static_cast<std::size_t>(layout.tokens());
    const auto empty_or = [](const std::vector<std::int64_t>& values, std::size_t size) {
        return values.empty() || values.size() == size;
    };
    check(samples.input_ids_T.size() == tokens, samples.input_ids_T.size(), " ids for ", tokens, " tokens");
    check(empty_or(samples.token_type_ids_T, tokens), samples.token_type_ids_T.size(), " token types for ", tokens, " tokens");
    check(empty_or(samples.next_sentence_labels_B, samples.numbers_B.size()), samples.next_sentence_labels_B.size(),
          " labels of next sentences for ", samples.numbers_B.size(), " samples");
    check(samples.masked_rows_M.size() == samples.masked_labels_M.size(), samples.masked_rows_M.size(), " masked rows with ",
          samples.masked_labels_M.size(), " labels");
    for (const std::int64_t row : samples.masked_rows_M)
        check(row >= 0 && row < layout.tokens(), "masked row ", row, " of ", tokens, " tokens");
}

}  // namespace

MicroBatch build_batch(const UnpaddedSamples& samples, at::Device device) {
    const SequenceLayout whole = host_layout(samples.lengths_B, samples.numbers_B);
    check_sizes(samples, whole);
    MicroBatch batch;
    batch.layout = attention_layout(samples, whole);
    batch.masked_positions = static_cast<std::int64_t>(samples.masked_rows_M.size());
    const Axes axes{batch.layout.sequences(), whole.sequences(), rounded_up(batch.tokens(), token_multiple(device)),
                    rounded_up(batch.masked(), masked_multiple)};
    const bool pinned = !device.is_cpu();
    const c10::OptionalDeviceGuard guard(pinned ? std::optional(device) : std::nullopt);
    set_tensors(batch, at::empty({elements_of(axes)}, at::TensorOptions(at::kLong).pinned_memory(pinned)), axes);

    write_filled(batch.layout.device_starts_B1, batch.layout.starts_B1);
    write_filled(batch.layout.device_samples_B, batch.layout.samples_B);
    write_filled(batch.next_sentence_labels_B, samples.next_sentence_labels_B);
    write_filled(batch.input_ids_T, samples.input_ids_T);
    write_filled(batch.token_type_ids_T, samples.token_type_ids_T);
    fill_row_keys(whole, batch.position_ids_T, batch.samples_T);
    write_filled(batch.read_rows_R.narrow(0, 0, axes.B), std::span(whole.starts_B1).first(samples.numbers_B.size()));
    write_filled(batch.masked_rows_M, samples.masked_rows_M);
    write_filled(batch.masked_labels_M, samples.masked_labels_M, -1);
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
