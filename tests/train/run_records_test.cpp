#include "train/records/run_records.h"

#include <csignal>

#include <sys/resource.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"
#include "telemetry/metrics_file.h"
#include "train/records/run_folder.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Files of this process cannot grow beyond a size while it exists, as on a full disk.
class FullDisk {
public:
    explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    void (*handler_)(int);
    rlimit before_{};
};

/// Returns what an Error of `work` says; empty: it throws none.
std::string failure_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) { return error.what(); }
    return "";
}

StepRecord step_record(std::int64_t step) {
    StepRecord record;
    record.step = step;
    return record;
}

}  // namespace

TEST_CASE("a save that must not be newer than the metrics fails while lines are only in memory, and not once they are written") {
    const TemporaryFolder folder;
    const RunFolder run(folder / "run");
    RunRecords records(run, 10, std::nullopt, true);
    records.add(step_record(1));
    CHECK_NOTHROW(records.lines_written(true)());
    const auto whole = std::filesystem::file_size(run.paths().metrics());
    std::string required, last_save;
    std::uintmax_t bytes = 0;
    {
        const FullDisk full(whole + 10);  // also for Catch's output, so the checks come after it
        records.add(step_record(2));
        required = failure_of(records.lines_written(true));
        last_save = failure_of(records.lines_written(false));
        bytes = std::filesystem::file_size(run.paths().metrics());
    }
    CHECK_THAT(required,
               Catch::Contains("checkpoint error: ") && Catch::Contains("metrics.jsonl: the last lines cannot be written"));
    CHECK(last_save == "");  // it keeps a run's weights all the same
    CHECK(bytes == whole);
    CHECK_NOTHROW(records.lines_written(true)());
    CHECK(read_metrics(run.paths().metrics()).steps.size() == 2);
}
