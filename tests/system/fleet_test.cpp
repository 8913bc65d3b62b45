// Many short supervised jobs, each with a transient fault, finish without help from a person.
//   BERTPRETRAIN_FLEET_JOBS: how many (200)

#include <cstdlib>
#include <iostream>
#include <random>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/table.h"
#include "core/strings.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t total_steps = 60, save_every = 6, late_steps = total_steps / 20;  // the last 5 %
constexpr double most_seconds = 400;

/// The results of the jobs with one kind of fault.
struct Account {
    std::int64_t jobs = 0, finished = 0, restarts = 0, steps_redone = 0;
    double seconds_lost = 0;
};

std::int64_t saved_steps_of(const fs::path& run) {
    const std::string metrics = read_text(run / "metrics.jsonl");
    return std::count(metrics.begin(), metrics.end(), '\n');  // without evaluations: one line per step
}

/// Returns the steps at which the run was restarted.
std::vector<std::int64_t> resumed_at(const fs::path& run) {
    std::vector<std::int64_t> steps;
    std::istringstream lines(read_text(run / "events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        const auto event = nlohmann::json::parse(line);
        if (event.at("event") == "resume" || event.at("event") == "start") steps.push_back(event.at("step").get<std::int64_t>());
    }
    return steps;
}

class Fleet {
public:
    explicit Fleet(unsigned seed) : random_(seed) {
        config_ = write_experiment(folder_, {{"schedule", {{"total_steps", total_steps}}},
                                             {"batch", {{"global_batch_size", 16}}},
                                             {"parallel", {{"timeout_seconds", 5}, {"first_step_timeout_seconds", 30}}},
                                             {"watchdog", {{"data_seconds", 5}, {"saving_seconds", 10}}},
                                             {"checkpoint", {{"save_every_steps", save_every}, {"keep_last", 2}}},
                                             {"evaluation", {{"every_steps", 0}}}});
        const double begin = seconds_now();
        check(train(config_, undisturbed_, "--local-ranks 2").exit_code == 0, "the undisturbed run failed");
        undisturbed_seconds_ = seconds_now() - begin;
    }

    /// A job with one fault of this kind at a random moment, or in the last 5 % of the run.
    void run_job(const std::string& fault, bool late) {
        const fs::path run = folder_ / "job";
        fs::remove_all(run);
        fs::remove(folder_ / "struck");
        const double begin = seconds_now();
        Process process(command(fault, run));
        if (fault == "hanging read") late = false;  // the rows of the last steps are read long before
        const std::int64_t strike_at = fault == "hanging read" ? random_below(12)
                                       : late                  ? total_steps - random_below(late_steps) - 1
                                                               : random_below(total_steps - late_steps);
        std::int64_t reached = strike(fault, process, run, strike_at);
        while (!process.ended() && seconds_now() - begin < most_seconds) {
            sleep_seconds(0.05);
            const auto starts = resumed_at(run);
            if (starts.size() < 2) reached = std::max(reached, saved_steps_of(run));
        }
        account(fault + (late ? ", last 5 %" : ""), process, run, seconds_now() - begin, reached);
    }

    const std::map<std::string, Account>& accounts() const { return accounts_; }
    double undisturbed_seconds() const { return undisturbed_seconds_; }

private:
    std::int64_t random_below(std::int64_t end) { return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_); }

    std::string command(const std::string& fault, const fs::path& run) {
        const std::string once =
            concat("LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_ONCE=", (folder_ / "struck").string(),
                   " FAULT_WHEN=", (folder_ / "now").string(), " ");
        fs::remove(folder_ / "now");
        std::string environment = "OMP_NUM_THREADS=1 ";
        if (fault == "failed save") environment += once + "FAULT_CALL=fsync FAULT_FILE=step_ FAULT_DO=fail ";
        if (fault == "hanging save") environment += once + "FAULT_CALL=fsync FAULT_FILE=step_ ";
        if (fault == "hanging read") environment += once + "FAULT_CALL=pread FAULT_FILE=.h5 ";
        return concat("env RUN_UNTIL_DONE_PAUSE_SECONDS=0.5 scripts/run_until_done.sh ", run.string(), " -- env ", environment,
                      train_program, " train ", config_.string(), " --output ", run.string(), " --local-ranks 2");
    }

    /// Waits for the moment and causes the fault. @returns the steps done by then
    std::int64_t strike(const std::string& fault, Process& process, const fs::path& run, std::int64_t at) {
        wait_until(process, [&] { return saved_steps_of(run) >= at; });
        const std::int64_t reached = saved_steps_of(run);
        if (fault == "killed rank" || fault == "stopped rank" || fault == "killed launcher") {
            const std::vector<pid_t> launchers = children_of(process.pid());
            if (launchers.empty()) return reached;
            const std::vector<pid_t> ranks = children_of(launchers.front());
            const bool launcher = fault == "killed launcher" || ranks.empty();
            const pid_t target = launcher ? launchers.front() : ranks[static_cast<std::size_t>(random_below(std::ssize(ranks)))];
            ::kill(target, fault == "stopped rank" ? SIGSTOP : SIGKILL);
        }
        write_text(folder_ / "now", "");
        return reached;
    }

    void account(const std::string& kind, Process& process, const fs::path& run, double seconds, std::int64_t reached) {
        const bool done = process.ended() && process.wait() == 0;
        const bool same = done && first_difference(numbers_of(run), numbers_of(undisturbed_)).empty();
        INFO(kind << ": " << read_text(run / "log.txt"));
        CHECK(done);
        CHECK(same);
        Account& account = accounts_[kind];
        ++account.jobs;
        account.finished += done && same ? 1 : 0;
        account.seconds_lost += std::max(0.0, seconds - undisturbed_seconds_);
        const std::vector<std::int64_t> starts = resumed_at(run);
        if (starts.size() < 2) return;
        account.restarts += std::ssize(starts) - 1;
        account.steps_redone += std::max<std::int64_t>(0, reached - starts[1]);
    }

    TemporaryFolder folder_;
    fs::path config_, undisturbed_ = folder_ / "undisturbed";
    double undisturbed_seconds_ = 0;
    std::mt19937 random_;
    std::map<std::string, Account> accounts_;
};

std::int64_t number_of_jobs() {
    const char* asked = std::getenv("BERTPRETRAIN_FLEET_JOBS");
    return asked == nullptr ? 200 : std::stoll(asked);
}

}  // namespace

TEST_CASE("of supervised jobs with transient faults 99.5 % finish by themselves, with the results of undisturbed ones",
          "[.long]") {
    NEEDS_TRAIN();
    const unsigned seed = std::random_device()();
    INFO("seed " << seed);
    Fleet fleet(seed);
    const std::vector<std::string> faults{"killed rank",  "stopped rank", "failed save",
                                          "hanging save", "hanging read", "killed launcher"};
    const std::int64_t jobs = number_of_jobs();
    for (std::int64_t job = 0; job < jobs; ++job)
        fleet.run_job(faults[static_cast<std::size_t>(job) % faults.size()], job % 4 == 3);
    Table table({"fault", "jobs", "finished", "restarts", "steps redone per fault", "seconds lost per fault"});
    std::int64_t finished = 0;
    for (const auto& [kind, account] : fleet.accounts()) {
        const auto each = [&, jobs_of_kind = static_cast<double>(account.jobs)](double sum) {
            return fixed(sum / jobs_of_kind, 1);
        };
        table.add({kind, std::to_string(account.jobs), std::to_string(account.finished), std::to_string(account.restarts),
                   each(static_cast<double>(account.steps_redone)), each(account.seconds_lost)});
        finished += account.finished;
    }
    std::cout << table.text() << finished << " of " << jobs << " jobs finished; undisturbed one takes "
              << fixed(fleet.undisturbed_seconds(), 1) << " s, saved every " << save_every << " of " << total_steps << " steps\n";
    CHECK(static_cast<double>(finished) >= 0.995 * static_cast<double>(jobs));
}
