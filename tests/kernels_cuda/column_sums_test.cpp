#include "kernels/cuda/column_sums.h"

#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("sums over the tiles of sequences have the bits of sums over all parts up to the longest sequence's end") {
    const Ragged batch = ragged({300, 0, 1, 2100, 65, 128, 129, 64, 1000});
    const SequenceLayout& layout = batch.layout;
    for (const std::int64_t columns : {32, 100})
        for (const SequenceTiles& tiles : {layout.wide_tiles, layout.narrow_tiles}) {
            const std::int64_t parts = (layout.longest + tiles.rows - 1) / tiles.rows, B = layout.sequences();
            const at::Tensor sums_PH = RandomTensors(1).normal({tiles.count, columns}),
                             padded_BPH = at::zeros({B, parts, columns});
            const auto* const first_tile_B = tiles.device_first_tile_B.const_data_ptr<std::int64_t>();
            for (std::int64_t b = 0; b < B; ++b) {
                const std::int64_t count = (layout.length(b) + tiles.rows - 1) / tiles.rows;
                padded_BPH[b].narrow(0, 0, count).copy_(sums_PH.narrow(0, first_tile_B[b], count));
            }
            at::Tensor total = at::ones({columns}), right = at::ones({columns});
            cuda::add_tile_sums({sums_PH.const_data_ptr<float>(), tiles.rows, B, parts, columns,
                                 layout.device_starts_B1.const_data_ptr<std::int64_t>(), first_tile_B, total.data_ptr<float>()},
                                nullptr);
            cuda::add_column_sums({padded_BPH.const_data_ptr<float>(), B * parts, 1, columns, {right.data_ptr<float>()}},
                                  nullptr);
            CHECK(same_bits(total, right));
        }
}
