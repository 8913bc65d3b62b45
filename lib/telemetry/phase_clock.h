#pragma once
// What a run is doing right now, and how long it has done what.

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

using PhaseSeconds = std::array<double, phase_count>;  ///< by Phase

/// One thread says what it does; any other may look. Entering costs a reading of the clock.
class PhaseClock {
public:
    /// Ends the phase before. Entering the same one again is a sign of life.
    void enter(Phase phase) noexcept;

    /// A function that gives a sign of life of a save. Any thread may call it, also after this clock is gone. The signs count
    /// while the phase is saving: a save in the background does not hide that training hangs.
    std::function<void()> sign_of_saving() const;

    struct Look {
        Phase phase = Phase::none;
        std::uint64_t entries = 0;  ///< with signs of life so far: unchanged, while there were none
        bool operator==(const Look&) const = default;
    };
    Look look() const noexcept;

    /// Seconds in each phase since this was last asked, by the thread that enters.
    PhaseSeconds take_seconds() noexcept;

private:
    void add_time() noexcept;

    std::atomic<std::uint64_t> state_{0};  ///< entries * 256 + phase
    std::shared_ptr<std::atomic<std::uint64_t>> signs_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    double since_ = 0;
    PhaseSeconds seconds_{};
};

}  // namespace bertpretrain
