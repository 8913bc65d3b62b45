#pragma once
// The last error messages of processes that one parent started, so that equal ones are printed once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bertpretrain {

/// The environment variable with the descriptor that the processes share: `train --local-ranks` sets it.
inline constexpr const char* shared_failures_variable = "BERTPRETRAIN_LOCAL_FAILURES";

/// Returns an error message with the rank that it is about, as in "data error: rank 3: FILE: ..."; unchanged where it names one.
std::string with_rank(const std::string& message, const std::string& rank);

/// Counts of messages in memory that processes share. Thread-safe, also between processes; never blocks.
class SharedFailures {
public:
    /// Creates the memory. Its descriptor is inherited by processes that this one starts. Where there is none, add() returns 1.
    SharedFailures();
    /// Returns the memory that the parent shares by shared_failures_variable; null: it shares none. Programs that this process
    /// starts do not inherit it.
    static std::unique_ptr<SharedFailures> of_parent();
    SharedFailures(const SharedFailures&) = delete;
    SharedFailures& operator=(const SharedFailures&) = delete;
    ~SharedFailures();

    int descriptor() const { return descriptor_; }
    /// Counts a message; two that differ in their rank alone are equal. @returns how often it was counted, with this time
    std::int64_t add(std::string_view message);
    /// Returns the largest count.
    std::int64_t most() const;

private:
    struct Slot;
    explicit SharedFailures(int descriptor);
    void map();

    int descriptor_ = -1;
    bool is_own_ = false;
    Slot* slots_ = nullptr;
};

}  // namespace bertpretrain
