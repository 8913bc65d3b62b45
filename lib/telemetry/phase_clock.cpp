#include "telemetry/phase_clock.h"

#include <utility>

#include "core/clock.h"
#include "telemetry/trace.h"

namespace bertpretrain {

std::string_view name_of(Phase phase) {
    constexpr std::array<std::string_view, phase_count> names{"nothing", "data",   "forward",    "backward", "communication",
                                                              "update",  "saving", "evaluation", "start"};
    return names.at(static_cast<std::size_t>(phase));
}

void PhaseClock::add_time() noexcept {
    const double now = seconds_now();
    const Phase phase = look().phase;
    if (phase != Phase::none) {
        seconds_[static_cast<std::size_t>(phase)] += now - since_;
        trace_span(name_of(phase).data(), since_, now);
    }
    since_ = now;
}

void PhaseClock::enter(Phase phase) noexcept {
    add_time();
    const std::uint64_t entries = state_.load(std::memory_order_relaxed) / 256 + 1;
    state_.store(entries * 256 + static_cast<std::uint64_t>(phase), std::memory_order_relaxed);
}

std::function<void()> PhaseClock::sign_of_saving() const {
    return [signs = signs_] { signs->fetch_add(1, std::memory_order_relaxed); };
}

PhaseClock::Look PhaseClock::look() const noexcept {
    const std::uint64_t state = state_.load(std::memory_order_relaxed);
    const auto phase = static_cast<Phase>(state % 256);
    const std::uint64_t signs = phase == Phase::saving ? signs_->load(std::memory_order_relaxed) : 0;
    return {phase, state / 256 + signs};
}

PhaseSeconds PhaseClock::take_seconds() noexcept {
    add_time();
    return std::exchange(seconds_, {});
}

}  // namespace bertpretrain
