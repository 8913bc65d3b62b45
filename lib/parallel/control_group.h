#pragma once
// What ranks say to each other in words and numbers, beside their tensors.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// All ranks call the same operations in the same order, from one thread each.
/// All members throw DistributedError when a peer or the network failed.
class ControlGroup {
public:
    virtual ~ControlGroup() = default;
    virtual std::int64_t rank() const = 0;  ///< 0 <= rank < size
    virtual std::int64_t size() const = 0;

    /// The messages of all ranks, rank 0 first; all are of one length. Waits for all.
    virtual std::vector<std::string> all_gather(std::string_view own) = 0;

    /// At rank 0 the messages of all ranks, rank 0 first; nothing elsewhere. All are of one length.
    virtual std::vector<std::string> gather_at_first(std::string_view own) = 0;

    /// Rank 0's bytes, put into every other rank's; all are equally many.
    virtual void broadcast_from_first(std::span<std::byte> bytes) = 0;

    /// From now on a rank that is waited for longer than this is taken for lost.
    virtual void set_timeout(std::chrono::milliseconds) {}

    /// Returns when all ranks have called it.
    void barrier() { all_gather(std::string_view()); }

    /// The numbers of all ranks, rank 0 first; each gives equally many.
    std::vector<double> all_gather(std::span<const double> own);

    /// The longest text, in bytes: what a peer may make a rank allocate.
    static constexpr std::size_t longest_text = std::size_t{64} << 20;

    /// As all_gather, for messages of any lengths up to longest_text.
    std::vector<std::string> all_gather_texts(std::string_view own);

    /// Rank 0's text, up to longest_text, on all ranks.
    std::string text_of_first(std::string_view own);

    /// The largest of what the ranks say, the same on all: the way to agree to stop, to save, to fail. |value| < 2^53.
    std::int64_t agree_on_largest(std::int64_t value);
    /// The sum of what the ranks say, the same on all; below 2^53.
    std::int64_t sum(std::int64_t value);
};

}  // namespace bertpretrain
