#pragma once
// Why a run stops before its end.

#include <compare>
#include <cstdint>

namespace bertpretrain {

/// Of several reasons, the largest counts: that of the latest kind, and of two signals the larger number.
struct StopReason {
    enum class Kind : std::int16_t {
        none,
        signal,        ///< a stop signal (core/signals.h)
        folder_moved,  ///< rank 0's run folder was renamed or deleted
        folder_taken,  ///< another process has locked rank 0's run folder
        limit,         ///< the run has used the time or money that it may use
    };

    Kind kind = Kind::none;
    std::int16_t signal = 0;  ///< the signal's number; 0: another kind

    static constexpr StopReason by_signal(int number) { return {Kind::signal, static_cast<std::int16_t>(number)}; }

    explicit operator bool() const { return kind != Kind::none; }
    auto operator<=>(const StopReason&) const = default;

    /// A number for messages between ranks: larger for larger reasons, 0 for none, exact as a double.
    std::int64_t code() const { return std::int64_t{1000} * static_cast<std::int64_t>(kind) + signal; }
    static StopReason of_code(std::int64_t code) {
        return {static_cast<Kind>(code / 1000), static_cast<std::int16_t>(code % 1000)};
    }
};

}  // namespace bertpretrain
