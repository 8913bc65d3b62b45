// A run writes only into the folder that it has locked, even if the folder is renamed.

#include <cstdio>

#include <fcntl.h>
#include <sys/file.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr double seconds_to_end = 30;

bool ends(Process& process) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_to_end);
    while (!process.ended() && std::chrono::steady_clock::now() < end) sleep_seconds(0.01);
    return process.ended();
}

bool has_saved(const fs::path& run) { return fs::exists(run / "checkpoints/step_00000003/COMPLETE.json"); }

std::string endless(const fs::path& config, const fs::path& run, const std::string& options = "") {
    return train_command(config, run, "--set schedule.total_steps=100000 --set checkpoint.keep_last=3 " + options);
}

/// Returns the step of the last line of the metrics.
std::int64_t last_step(const fs::path& run) {
    return nlohmann::json::parse(lines_so_far(run / "metrics.jsonl").back()).at("step").get<std::int64_t>();
}

/// Locks RUN/.lock as a process of another host would.
class LockFile {
public:
    explicit LockFile(const fs::path& run) : file_(::open((run / ".lock").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
        check(file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) == 0, "the test has made the lock file first");
    }
    LockFile(const LockFile&) = delete;
    LockFile& operator=(const LockFile&) = delete;
    ~LockFile() { ::close(file_); }

private:
    int file_;
};

}  // namespace

TEST_CASE(
    "a run whose folder was renamed saves there, writes nothing into the folder that has its name now, and ends with exit 4") {
    NEEDS_TRAIN();
    const std::string options = GENERATE("", "--local-ranks 2 --set batch.global_batch_size=8");
    INFO(options);
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run", moved = folder / "moved";
    Process first(endless(config, run, options));
    REQUIRE(wait_until(first, [&] { return has_saved(run); }));
    fs::create_directory(moved);
    REQUIRE(::renameat2(AT_FDCWD, run.c_str(), AT_FDCWD, moved.c_str(), RENAME_EXCHANGE) == 0);  // swaps both atomically
    CHECK(ends(first));
    CHECK(fs::is_empty(run));
    first.send(SIGKILL);
    CHECK(first.wait() == checkpoint_exit);
    CHECK(missing_words(read_text(moved / "log.txt"),
                        {concat("was renamed to ", moved.string(), ", and another folder now has its name")}) == "");
    CHECK(missing_words(read_text(moved / "exit.json"), {"\"code\": 4", run.string(), moved.string()}) == "");
    CHECK(read_text(moved / "log.txt").find("is not saved") == std::string::npos);  // a save in progress was completed
    CHECK(run_command(train_program + " inspect --verify " + moved.string()).exit_code == 0);
    CHECK(fs::exists(
        moved / concat("checkpoints/step_", std::string(8 - std::to_string(last_step(moved)).size(), '0'), last_step(moved))));
}

TEST_CASE("a run whose folder was deleted ends with exit 4, and creates no other in its place") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run";
    Process first(endless(config, run));
    REQUIRE(wait_until(first, [&] { return has_saved(run); }));
    fs::rename(run, folder / "aside");  // atomically, while the run writes into it
    std::error_code written_meanwhile;
    while (fs::exists(folder / "aside")) fs::remove_all(folder / "aside", written_meanwhile);
    CHECK(ends(first));
    CHECK_FALSE(fs::exists(run));
    first.send(SIGKILL);
    CHECK(first.wait() == checkpoint_exit);
}

TEST_CASE("after the lock file was removed a second run is still refused; the first one continues and restores the file") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run";
    Process first(endless(config, run));
    REQUIRE(wait_until(first, [&] { return has_saved(run); }));
    fs::remove(run / ".lock");
    check_refusal(train(config, run), config_exit, {run.string(), "another process is training", "--output"}, "without its lock");
    CHECK(wait_until(first, [&] { return fs::exists(run / ".lock"); }));
    CHECK_FALSE(first.ended());
    first.send(SIGTERM);
    CHECK(first.wait() == 128 + SIGTERM);
}

TEST_CASE("a run ends with exit 4 if another process has taken its lock file") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run";
    Process first(endless(config, run));
    REQUIRE(wait_until(first, [&] { return has_saved(run); }));
    const fs::path own = folder / "own";
    fs::create_directory(own);
    const LockFile lock(own);
    fs::rename(own / ".lock", run / ".lock");
    CHECK(ends(first));
    first.send(SIGKILL);
    CHECK(first.wait() == checkpoint_exit);
    CHECK(missing_words(read_text(run / "log.txt"), {"another process"}) == "");
}

TEST_CASE("a start that is refused because another process trains in the folder writes no exit.json into it") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run";
    Process first(endless(config, run));
    REQUIRE(wait_until(first, [&] { return has_saved(run); }));
    CHECK(train(config, run).exit_code == config_exit);
    CHECK(train(config, run, "--set batch.micro_batch_size=0").exit_code == config_exit);
    CHECK_FALSE(fs::exists(run / "exit.json"));
    first.send(SIGTERM);
    CHECK(first.wait() == 128 + SIGTERM);
}

TEST_CASE("a run's id stays in resumes and copies, and a folder that is deleted and trained in again gets another") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 2}}}});
    const fs::path run = folder / "run";
    REQUIRE(train(config, run).exit_code == 0);
    const std::string id = read_text(run / "run_id");
    CHECK(id.size() == 17);
    CHECK(id.find_first_not_of("0123456789abcdef") == 16);
    fs::rename(run, folder / "moved");
    REQUIRE(train(config, folder / "moved", "--set schedule.total_steps=3").exit_code == 0);
    CHECK(read_text(folder / "moved/run_id") == id);
    REQUIRE(train(config, run).exit_code == 0);
    CHECK(read_text(run / "run_id") != id);
}
