#include "operations/plan_fit.h"

#include <functional>

#include "core/error.h"
#include "core/median.h"

namespace bertpretrain {
namespace {

constexpr std::size_t fewest_steps = 3;

double median_of(const std::vector<StepRecord>& steps, const std::function<double(const StepRecord&)>& number) {
    std::vector<double> numbers;
    for (std::size_t i = steps.size() / 5; i < steps.size(); ++i) numbers.push_back(number(steps[i]));
    return median(numbers);
}

}  // namespace

MeasuredRun measure(const Metrics& metrics, std::int64_t world_size) {
    if (metrics.steps.size() < fewest_steps)
        throw DataError(concat("the run to fit to has ", metrics.steps.size(), " steps; expected at least ", fewest_steps));
    const auto over = [&](const auto& number) { return median_of(metrics.steps, number); };
    const auto computing = [](const StepRecord& step) {
        return step.step_seconds - step.data_wait_seconds - step.exposed_communication_seconds;
    };
    MeasuredRun run;
    run.world_size = world_size;
    run.tokens_per_sequence = over([](const StepRecord& step) { return step.tokens_per_second / step.sequences_per_second; });
    run.sequences_per_step = over([](const StepRecord& step) { return step.sequences_per_second * step.step_seconds; });
    run.step_seconds = over([](const StepRecord& step) { return step.step_seconds; });
    run.computing_seconds = over(computing);
    run.exposed_seconds = over([](const StepRecord& step) { return step.exposed_communication_seconds; });
    run.communication_seconds = over([](const StepRecord& step) { return step.communication_seconds; });
    run.tflops_per_rank = over([&](const StepRecord& step) {
        return step.model_tflops_per_second * step.step_seconds / computing(step) / static_cast<double>(world_size);
    });
    run.sent_gbps = over([](const StepRecord& step) {
        return step.communication_seconds > 0 ? step.bytes_sent / step.communication_seconds * 1e-9 : 0;
    });
    return run;
}

}  // namespace bertpretrain
