#pragma once
// Where the sequences of a batch begin and end.

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// P tiles of `rows` rows that cover all sequences: a tile has rows of one sequence, and its last tile may have fewer. A GPU's
/// attention computes a tile of a head per block, so that it starts no block without rows. The longest sequence comes first: what
/// takes longest does not begin last. The tiles of a sequence follow one another.
struct SequenceTiles {
    std::int64_t rows, count = 0;                        ///< count: P
    at::Tensor device_tiles_P{}, device_first_tile_B{};  ///< int64, on the batch's device: what tiles_of() returns
};

/// B sequences without padding, one after the other: sequence b is rows [starts[b], starts[b + 1]). Rows after the last
/// sequence belong to no sequence. Tokens attend to those of their sequence.
struct SequenceLayout {
    std::vector<std::int64_t> starts_B1{0};  ///< on the host
    /// The samples' numbers in the order of the whole run, on the host. They key dropout, so that a mask depends on the sample
    /// and not on the micro-batch or rank that computes it. Further sequences of one sample have numbers of their own.
    std::vector<std::int64_t> samples_B;
    std::int64_t longest = 0;                       ///< tokens of the longest sequence
    at::Tensor device_starts_B1, device_samples_B;  ///< the same values as int64 tensors on the batch's device
    SequenceTiles wide_tiles{128}, narrow_tiles{64};

    std::int64_t sequences() const { return static_cast<std::int64_t>(samples_B.size()); }
    std::int64_t tokens() const { return starts_B1.back(); }
    std::int64_t length(std::int64_t sequence) const {
        const auto b = static_cast<std::size_t>(sequence);
        return starts_B1[b + 1] - starts_B1[b];
    }
};

/// The tiles as values on the host.
struct HostTiles {
    std::vector<std::int64_t> tiles_P;       ///< sequence * 2^32 + the tile's first row, counted from the sequence's
    std::vector<std::int64_t> first_tile_B;  ///< where the sequence's tiles begin in tiles_P
};
HostTiles tiles_of(const SequenceLayout& layout, std::int64_t rows);

/// The layout without its device tensors. @throws std::logic_error when the two sizes differ
SequenceLayout host_layout(std::span<const std::int64_t> lengths_B, std::span<const std::int64_t> samples_B);

/// The whole layout. Waits for the copies to a GPU, so it is for tests, proofs and benchmarks only.
SequenceLayout sequence_layout(std::span<const std::int64_t> lengths_B, std::span<const std::int64_t> samples_B,
                               at::Device device);

}  // namespace bertpretrain
