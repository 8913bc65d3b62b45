#pragma once
// Small host-side collectives between ranks: messages, texts and numbers.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// All ranks call the same operations in the same order, each from one thread.
/// All members throw DistributedError when a peer or the network failed.
class ControlGroup {
public:
    virtual ~ControlGroup() = default;
    virtual std::int64_t rank() const = 0;  ///< 0 <= rank < size
    virtual std::int64_t size() const = 0;

    /// Returns the messages of all ranks in rank order; all must have the same length. Blocks until all ranks have called it.
    virtual std::vector<std::string> all_gather(std::string_view own) = 0;

    /// On rank 0, returns the messages of all ranks in rank order; elsewhere an empty vector. All must have the same length.
    virtual std::vector<std::string> gather_at_first(std::string_view own) = 0;

    /// Copies rank 0's bytes into every other rank's; all spans must have the same size.
    virtual void broadcast_from_first(std::span<std::byte> bytes) = 0;

    /// Sets the timeout of later operations: a rank that does not answer for longer counts as lost.
    virtual void set_timeout(std::chrono::milliseconds) {}

    /// Blocks until all ranks have called it.
    void barrier() { all_gather(std::string_view()); }

    /// Returns the numbers of all ranks in rank order; each rank passes the same count.
    std::vector<double> all_gather(std::span<const double> own);

    /// Longest accepted text in bytes, which bounds what a peer can make a rank allocate.
    static constexpr std::size_t longest_text = std::size_t{64} << 20;

    /// Like all_gather, for messages of different lengths up to longest_text.
    std::vector<std::string> all_gather_texts(std::string_view own);

    /// Returns rank 0's text (at most longest_text bytes) on all ranks.
    std::string text_of_first(std::string_view own);

    /// Returns the largest value of all ranks, the same on each, to agree to stop, save or fail. |value| < 2^53.
    std::int64_t agree_on_largest(std::int64_t value);
    /// Returns the sum over all ranks, the same on each; |value| and the sum must stay below 2^53.
    std::int64_t sum(std::int64_t value);
};

}  // namespace bertpretrain
