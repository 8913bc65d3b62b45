#include "batches/batch_copier.h"

#include <numeric>

#include "batches/build_batch.h"
#include "gpu/gpu.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("on a GPU a batch copied by the copier's stream is whole when the computing stream reads it", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    UnpaddedSamples samples;
    samples.lengths_B.assign(500, 400);
    samples.numbers_B.assign(500, 5'000'000'000);
    samples.input_ids_T.resize(500 * 400);
    std::iota(samples.input_ids_T.begin(), samples.input_ids_T.end(), 1);
    const BatchCopier copier(*device);
    for (int i = 0; i < 20; ++i) {
        samples.numbers_B.front() = i;
        const MicroBatch host = build_batch(samples, *device), batch = copier.copy(host);
        CHECK(host.numbers.is_pinned());
        REQUIRE(batch.copied);
        wait_for_copy(batch);
        const at::Tensor read = batch.numbers + 0;  // by the computing stream
        CHECK(batch.device().is_cuda());
        CHECK(batch.layout.device_samples_B[0].item<std::int64_t>() == i);
        CHECK(at::equal(read.cpu(), host.numbers));
    }
}
