#pragma once
// Tracks which phase of training a run is in, and the time spent in each phase.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace bertpretrain {

enum class Phase : std::uint8_t { none, data, forward, backward, communication, update, saving, evaluation, start };
inline constexpr std::size_t phase_count = 9;
std::string_view name_of(Phase phase);

using PhaseSeconds = std::array<double, phase_count>;  ///< indexed by Phase

/// One thread enters phases; any thread may call look(). Entering costs one clock read.
class PhaseClock {
public:
    /// Ends the current phase and starts `phase`. Entering the same phase again counts as a heartbeat.
    void enter(Phase phase) noexcept;

    /// Returns a function that sends a heartbeat for a save. Any thread may call it, also after this clock is destroyed. These
    /// heartbeats count only while the phase is `saving`, so a background save does not hide that training hangs.
    std::function<void()> sign_of_saving() const;

    struct Look {
        Phase phase = Phase::none;
        std::uint64_t entries = 0;  ///< entered phases plus heartbeats; unchanged if neither happened
        bool operator==(const Look&) const = default;
    };
    Look look() const noexcept;

    /// Returns the seconds in each phase since the previous call. Only the thread that enters phases may call it.
    PhaseSeconds take_seconds() noexcept;

private:
    void add_time() noexcept;

    std::atomic<std::uint64_t> state_{0};  ///< entries * 256 + phase
    std::shared_ptr<std::atomic<std::uint64_t>> signs_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    double since_ = 0;
    PhaseSeconds seconds_{};
};

}  // namespace bertpretrain
