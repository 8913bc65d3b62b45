#include "batches/batch_copier.h"

#include "batches/build_batch.h"
#include "batches/sample_shards.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("on a CPU the copier returns the batch itself, with nothing to wait for") {
    const std::vector<std::int64_t> selected{3, 0, 1};
    const MicroBatch batch = build_batch(unpadded_samples(sample_rows(1, 0, 5), selected, {7, 8, 9}));
    const MicroBatch copied = BatchCopier(at::Device(at::kCPU)).copy(batch);
    CHECK(copied.numbers.is_same(batch.numbers));
    CHECK_FALSE(copied.copied);
    wait_for_copy(copied);
}
