#pragma once
// Writes folders of runs like `train`'s, with times that are easy to add up by hand.

#include <cmath>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/files.h"
#include "telemetry/metrics_file.h"

namespace bertpretrain::testing {

/// 2024-05-01T12:00:00Z
inline constexpr double noon = 1714564800;

inline std::string event_line(int second, const std::string& rest) {
    return concat(R"({"time":"2024-05-01T12:)", second / 600, second / 60 % 10, ":", second % 60 / 10, second % 10, R"(.000Z",)",
                  rest, "}\n");
}

struct SampleStep {
    double step_seconds = 10, data_wait = 1, exposed = 0.5, communication = 2;
};

/// Writes a run of one session. It starts at noon, its first step ends 12 s later, then a step ends every `every` seconds. Every
/// fifth step is evaluated, which ends 1 s after the step. MLM loss 5, 4.9, ...; 8 sequences per step, 32 per epoch.
inline void write_run(const std::filesystem::path& folder, int ranks, int steps, double every = 11, SampleStep one = {}) {
    std::filesystem::create_directories(folder);
    MetricsFile metrics(folder / "metrics.jsonl");
    double time = noon + 12 - every;
    for (int step = 1; step <= steps; ++step) {
        time += every;
        StepRecord record{
            .step = step, .samples = 8 * step, .loss = 5.8 - 0.1 * step, .mlm_loss = 5.1 - 0.1 * step, .nsp_loss = 0.7};
        record.learning_rate = 1e-4;
        record.grad_norm = 1;
        record.mfu = 0.4;
        record.device_utilization = 0.9;
        record.memory_bytes = 0x1p30;
        record.sequences_per_second = 8 / one.step_seconds;
        record.step_seconds = one.step_seconds;
        record.data_wait_seconds = one.data_wait;
        record.communication_seconds = one.communication;
        record.exposed_communication_seconds = one.exposed;
        record.time = time;
        metrics.append(record);
        if (step % 5 == 0)
            metrics.append(
                EvaluationRecord{.step = step, .mlm_loss = 5.3 - 0.1 * step, .mlm_accuracy = 0.01 * step, .time = time + 1});
    }
    write_text(folder / "settings.json", R"({"schedule": {"total_steps": 20}})");
    write_text(folder / "events.jsonl",
               event_line(0, concat(R"("event":"start","step":0,"samples_per_epoch":32,"ranks":)", ranks)));
}

/// Like write_run with 2 ranks and 10 steps, but killed after step 12, and resumed from step 10 on 4 ranks half an hour later.
inline void write_resumed_run(const std::filesystem::path& folder) {
    write_run(folder, 2, 10);
    MetricsFile metrics(folder / "metrics.jsonl");
    for (int step = 11; step <= 14; ++step) {
        StepRecord record{.step = step, .samples = 8 * step, .mlm_loss = 5.1 - 0.1 * step, .sequences_per_second = 1.5};
        record.step_seconds = 5;
        record.time = noon + 1800 + 7 + 5 * (step - 11);
        metrics.append(record);
    }
    write_text(folder / "events.jsonl",
               read_text(folder / "events.jsonl") + event_line(1800, R"("event":"resume","step":10,"ranks":4)") +
                   event_line(1800, R"("event":"lost","step":10,"lost_steps":2,"lost_until":1714564935.0)") +
                   event_line(1822, R"("event":"stop","step":14)"));
}

}  // namespace bertpretrain::testing
