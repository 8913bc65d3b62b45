#pragma once
// Watches a running run, waits for its end, and makes calls of the C library fail in it.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/median.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

namespace bertpretrain::testing {

/// The longest time in seconds in which a run ends after a stop signal.
inline constexpr double time_to_stop = 30;

/// Returns the seconds for which the threads of a command and its ranks have waited for a free core, summed over the threads that
/// still run; 0 where the kernel does not count them.
inline double seconds_without_core(const Process& process) {
    std::vector<pid_t> programs = children_of(process.pid());
    programs.push_back(process.pid());
    double nanoseconds = 0;
    for (const pid_t program : programs) {
        std::error_code gone;
        for (const auto& thread : std::filesystem::directory_iterator(concat("/proc/", program, "/task"), gone)) {
            std::ifstream file(thread.path() / "schedstat");
            double running = 0, waiting = 0;
            if (file >> running >> waiting) nanoseconds += waiting;
        }
    }
    return nanoseconds * 1e-9;
}

/// Waits for the end. Time in which threads waited for a free core does not count, because a busy machine gives them few; but the
/// limit grows to no more than five times `seconds`. @returns the exit code, or -1 after a timeout
inline int wait_for_end(Process& process, double seconds = time_to_stop) {
    const double begin = seconds_now(), waited_before = seconds_without_core(process);
    double waited = 0;
    while (!process.ended() && seconds_now() - begin < std::min(seconds + waited, 5 * seconds)) {
        if (seconds_now() - begin >= seconds) waited = std::max(waited, seconds_without_core(process) - waited_before);
        sleep_seconds(0.01);
    }
    return process.ended() ? process.wait() : -1;
}

/// Returns the file that exists once a fault has happened which with_fault() lets happen after `when` exists.
inline std::filesystem::path reached(const std::filesystem::path& when) { return when.string() + ".reached"; }

/// Returns the number of steps in metrics.jsonl so far.
inline std::size_t steps_of(const std::filesystem::path& run) {
    std::size_t steps = 0;
    for (const std::string& line : lines_so_far(run / "metrics.jsonl")) steps += line.find("held_out") == line.npos ? 1U : 0U;
    return steps;
}

/// Returns the median duration of the steps in metrics.jsonl so far; 0 without any.
inline double seconds_per_step(const std::filesystem::path& run) {
    std::vector<double> seconds;
    for (const std::string& line : lines_so_far(run / "metrics.jsonl"))
        if (const auto record = nlohmann::json::parse(line); record.contains("step_seconds"))
            seconds.push_back(record.at("step_seconds"));
    return seconds.empty() ? 0 : median(seconds);
}

/// Waits until a call hangs in the run (with_fault), and then until no step has been added for a second and for the time of fifty
/// steps: on a busy machine steps take longer. @returns whether that happened
inline bool stands_still(Process& process, const std::filesystem::path& run, const std::filesystem::path& when) {
    if (!wait_until(process, [&] { return std::filesystem::exists(reached(when)); })) return false;
    std::size_t steps = 0;
    double since = seconds_now(), pause = 1;
    return wait_until(process, [&] {
        if (const std::size_t now = steps_of(run); now != steps) {
            steps = now;
            since = seconds_now();
            pause = std::max(1.0, 50 * seconds_per_step(run));
        }
        return seconds_now() - since > pause;
    });
}

/// Returns the code in exit.json; -1 if there is no such file.
inline int recorded_code(const std::filesystem::path& run) {
    if (!std::filesystem::exists(run / "exit.json")) return -1;
    return nlohmann::json::parse(read_text(run / "exit.json")).at("code").get<int>();
}

inline std::size_t complete_checkpoints(const std::filesystem::path& run) {
    std::size_t count = 0;
    if (std::filesystem::exists(run / "checkpoints"))
        for (const auto& entry : std::filesystem::directory_iterator(run / "checkpoints"))
            count += !entry.is_symlink() && std::filesystem::exists(entry.path() / "COMPLETE.json") &&
                     entry.path().extension() != ".partial";
    return count;
}

/// Runs the command to its end, and checks that the run then has the same numbers as an undisturbed one.
inline void check_goes_on(const std::filesystem::path& config, const std::filesystem::path& run,
                          const std::filesystem::path& undisturbed, const std::string& options = "") {
    CHECK((complete_checkpoints(run) == 0 || run_command(train_program + " inspect --verify " + run.string()).exit_code == 0));
    const CommandResult rest = train(config, run, options);
    INFO(rest.err);
    CHECK(rest.exit_code == 0);
    CHECK(first_difference(numbers_of(run), numbers_of(undisturbed)) == "");
}

/// Returns a command in which calls of the C library hang, fail or are slow once `when` exists (support/fault_shim.cpp). The
/// first that hangs or fails creates the file reached(when).
inline std::string with_fault(const std::string& fault, const std::filesystem::path& when, const std::string& command) {
    return concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_WHEN=", when.string(),
                  " FAULT_REACHED=", reached(when).string(), " ", fault, " ", command);
}

}  // namespace bertpretrain::testing
