#include "kernels/interface/sequence_layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <ATen/ops/tensor.h>

#include "core/error.h"
#include "core/rounding.h"

namespace bertpretrain {
namespace {

/// Sets the tiles' tensors.
void put_tiles(const SequenceLayout& layout, at::Device device, SequenceTiles& tiles) {
    const HostTiles values = tiles_of(layout, tiles.rows);
    tiles.device_tiles_P = at::tensor(values.tiles_P, at::kLong).to(device);
    tiles.device_first_tile_B = at::tensor(values.first_tile_B, at::kLong).to(device);
}

}  // namespace

HostTiles tiles_of(const SequenceLayout& layout, std::int64_t rows) {
    std::vector<std::int64_t> order(layout.samples_B.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::int64_t b) { return layout.length(b); });
    HostTiles tiles{{}, std::vector<std::int64_t>(order.size())};
    for (const std::int64_t b : order) {
        tiles.first_tile_B[static_cast<std::size_t>(b)] = std::ssize(tiles.tiles_P);
        for (std::int64_t first = 0; first < layout.length(b); first += rows) tiles.tiles_P.push_back(b << 32 | first);
    }
    return tiles;
}

SequenceLayout host_layout(std::span<const std::int64_t> lengths_B, std::span<const std::int64_t> samples_B) {
    check(lengths_B.size() == samples_B.size(), lengths_B.size(), " lengths for ", samples_B.size(), " samples");
    SequenceLayout layout;
    layout.samples_B.assign(samples_B.begin(), samples_B.end());
    layout.starts_B1.reserve(lengths_B.size() + 1);
    for (const std::int64_t length : lengths_B) {
        layout.starts_B1.push_back(layout.starts_B1.back() + length);
        layout.longest = std::max(layout.longest, length);
        for (SequenceTiles* const tiles : {&layout.wide_tiles, &layout.narrow_tiles})
            tiles->count += rounded_up(length, tiles->rows) / tiles->rows;
    }
    return layout;
}

SequenceLayout sequence_layout(std::span<const std::int64_t> lengths_B, std::span<const std::int64_t> samples_B,
                               at::Device device) {
    SequenceLayout layout = host_layout(lengths_B, samples_B);
    layout.device_starts_B1 = at::tensor(layout.starts_B1, at::kLong).to(device);
    layout.device_samples_B = at::tensor(layout.samples_B, at::kLong).to(device);
    put_tiles(layout, device, layout.wide_tiles);
    put_tiles(layout, device, layout.narrow_tiles);
    return layout;
}

}  // namespace bertpretrain
