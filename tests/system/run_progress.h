#pragma once
// Watches a running run, waits for its end, and makes calls of the C library fail in it.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

namespace bertpretrain::testing {

/// The longest time in seconds in which a run ends after a stop signal.
inline constexpr double time_to_stop = 30;

/// Waits for the end. @returns the exit code, or -1 after a timeout
inline int wait_for_end(Process& process, double seconds = time_to_stop) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!process.ended() && std::chrono::steady_clock::now() < end) sleep_seconds(0.01);
    return process.ended() ? process.wait() : -1;
}

/// Returns the number of steps in metrics.jsonl so far.
inline std::size_t steps_of(const std::filesystem::path& run) {
    std::size_t steps = 0;
    for (const std::string& line : lines_so_far(run / "metrics.jsonl")) steps += line.find("held_out") == line.npos ? 1U : 0U;
    return steps;
}

/// Waits until no step has been added for a second. @returns whether that happened
inline bool stands_still(Process& process, const std::filesystem::path& run) {
    std::size_t steps = 0;
    return wait_until(process, [&] {
        const std::size_t before = std::exchange(steps, steps_of(run));
        sleep_seconds(1);
        return before == steps;
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

/// Returns a command in which calls of the C library hang, fail or are slow once `when` exists (support/fault_shim.cpp).
inline std::string with_fault(const std::string& fault, const std::filesystem::path& when, const std::string& command) {
    return concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_WHEN=", when.string(), " ", fault, " ", command);
}

}  // namespace bertpretrain::testing
