// The bandwidth table, measured over real sockets.
#include "operations/collective_table.h"

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "support/catch.h"
#include "support/forwarding_world.h"
#include "support/run_gloo_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("every collective gives the right result at every size, out of place and in place, on 1, 2 and 3 ranks", "[system]") {
    for (const std::int64_t ranks : {1, 2, 3}) {
        std::vector<CollectiveTable> tables;
        const auto measure = [&](World& world) {
            auto measured = measure_collectives(world, at::kCPU, {.from = 8, .to = 4096, .seconds = 0.001});
            if (world.rank() == 0) tables = std::move(measured);
        };
        if (ranks == 1) {
            SingleProcess alone;
            measure(alone);
        } else {
            run_gloo_ranks(ranks, measure);
        }
        REQUIRE(tables.size() == 5);
        for (const CollectiveTable& table : tables) {
            CHECK(table.rows.size() == 10);
            CHECK(table.wrong() == 0);
            for (const CollectiveRow& row : table.rows) {
                CHECK(row.elements % ranks == 0);
                CHECK(row.bytes == 4 * row.elements);
                CHECK(row.out_of_place.microseconds > 0);
            }
        }
    }
}

namespace {

/// A world that corrupts a transferred element.
class LossyWorld final : public ForwardingWorld {
public:
    using ForwardingWorld::ForwardingWorld;
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override {
        ForwardingWorld::reduce_scatter(input, output)->wait();
        if (rank() == 1) output.narrow(0, 0, 1).add_(1);
        return std::make_unique<Done>();
    }
};

}  // namespace

TEST_CASE("elements that arrive wrong are counted, over all ranks") {
    run_ranks(2, [](World& world) {
        LossyWorld lossy(world);
        const auto tables = measure_collectives(lossy, at::kCPU, {.from = 1024, .to = 1024, .seconds = 0.001});
        if (world.rank() != 0) return;
        CHECK(tables[0].wrong() == 0);  // the library's own all-reduce
        CHECK(tables[1].wrong() == 4);  // reduce-scatter and all-gather: one element on both ranks, out of place and in place
        CHECK(tables[2].wrong() == 0);
        CHECK(tables[3].wrong() == 2);  // reduce-scatter: only on rank 1
        CHECK_THAT(nccl_tests_text(tables), Catch::Contains("# Out of bounds values : 4 FAILED"));
    });
}

TEST_CASE("the table has the columns and summary lines of nccl-tests") {
    const CollectiveTable table{"all_reduce", "sum", -1, {{1048576, 262144, {1599, 0.66, 1.23, 0}, {1601, 0.65, 1.22, 0}}}};
    const std::string expected = concat(
        "# all_reduce\n#", std::string(61, ' '), "out-of-place", std::string(24, ' '), "in-place\n",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n",
        "     1048576        262144     float     sum      -1  1599.00    0.66    1.23      0  1601.00    0.65    1.22      0\n",
        "# Out of bounds values : 0 OK\n", "# Avg bus bandwidth    : 1.225\n#\n");
    CHECK(nccl_tests_text({table}) == expected);
    CHECK(json_of(table).at("rows")[0].at("in_place").at("busbw_gbps") == 1.22);
}
