// scripts/launch/monitoring/efa_metrics.yaml: the counters of RDMA adapters.
#include <filesystem>

#include "core/error.h"
#include "launch/stand_ins.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("the counters of RDMA adapters are served in Prometheus' text format") {
    const TemporaryFolder folder;
    const auto counters = folder / "sys/class/infiniband/rdmap16s27/ports/1/hw_counters";
    std::filesystem::create_directories(counters);
    write_text(counters / "tx_bytes", "123\n");
    write_text(counters / "rx_drops", "4\n");
    const CommandResult result = run_command(concat(
        (launch_folder / "fill.sh").string(), " scripts/launch/monitoring/efa_metrics.yaml | sed -n '/collect.sh: |/,/^---/p' | ",
        "grep -v -e 'collect.sh: |' -e ^--- >", (folder / "collect.sh").string(), " && mkdir ", (folder / "www").string(),
        " && sh ", (folder / "collect.sh").string(), " ", (folder / "sys").string(), " ", (folder / "www").string()));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    const std::string text = read_text(folder / "www/metrics");
    CHECK(has(text, "bertpretrain_rdma_counter{device=\"rdmap16s27\",port=\"1\",name=\"tx_bytes\"} 123\n"));
    CHECK(has(text, "bertpretrain_rdma_counter{device=\"rdmap16s27\",port=\"1\",name=\"rx_drops\"} 4\n"));
}
