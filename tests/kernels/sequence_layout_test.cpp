#include "kernels/interface/sequence_layout.h"

#include "support/catch.h"

using namespace bertpretrain;

namespace {

using Values = std::vector<std::int64_t>;

Values values_of(const at::Tensor& tensor) {
    const auto* const data = tensor.const_data_ptr<std::int64_t>();
    return {data, data + tensor.numel()};
}

constexpr std::int64_t tile(std::int64_t sequence, std::int64_t first) { return sequence << 32 | first; }

}  // namespace

TEST_CASE("tiles cover each sequence once, the longest first and equal ones in their order") {
    const Values lengths{10, 129, 0, 64, 256, 65, 129};
    const SequenceLayout layout = sequence_layout(lengths, Values{5, 6, 7, 8, 9, 10, 11}, at::kCPU);
    const HostTiles wide = tiles_of(layout, 128);
    CHECK(wide.tiles_P == Values{tile(4, 0), tile(4, 128), tile(1, 0), tile(1, 128), tile(6, 0), tile(6, 128), tile(5, 0),
                                 tile(3, 0), tile(0, 0)});
    CHECK(wide.first_tile_B == Values{8, 2, 9, 7, 0, 6, 4});
    CHECK(values_of(layout.wide_tiles.device_tiles_P) == wide.tiles_P);
    CHECK(values_of(layout.wide_tiles.device_first_tile_B) == wide.first_tile_B);
    CHECK(layout.wide_tiles.count == 9);
    CHECK(values_of(layout.narrow_tiles.device_tiles_P) == tiles_of(layout, 64).tiles_P);
    CHECK(layout.narrow_tiles.count == 1 + 3 + 0 + 1 + 4 + 2 + 3);
}

TEST_CASE("a long document among a thousand short ones has as many tiles as it and they need") {
    Values lengths(1001, 10), samples(1001);
    lengths[500] = 8192;
    const SequenceLayout layout = host_layout(lengths, samples);
    CHECK(layout.wide_tiles.count == 64 + 1000);
    CHECK(tiles_of(layout, 128).tiles_P.front() == tile(500, 0));
}
