#pragma once
// Distributes numbered pieces of work to threads so that a thread that loses its core for a while does not hold up the others.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "kernels/cpu/operation_threads.h"

namespace bertpretrain::cpu {

/// The pieces [0, count), split into one contiguous share per thread. A thread takes its own share's pieces first, which keeps
/// what it reads in its cache from one operation to the next, and then the pieces that slower threads have not begun.
class StealableWork {
public:
    StealableWork(std::int64_t count, std::int64_t threads) : shares_(static_cast<std::size_t>(threads)) {
        for (std::int64_t t = 0; t < threads; ++t) {
            Share& share = shares_[static_cast<std::size_t>(t)];
            share.next = count * t / threads;
            share.end = count * (t + 1) / threads;
        }
    }

    /// Calls body(piece) for pieces of the share `first`, then of the others, until all are taken. Pieces that other threads took
    /// may still run when it returns.
    template <class Body>
    void take_all(std::int64_t first, const Body& body) {
        const auto threads = static_cast<std::int64_t>(shares_.size());
        for (std::int64_t i = 0; i < threads; ++i) {
            Share& share = shares_[static_cast<std::size_t>((first + i) % threads)];
            // The look before the addition keeps exhausted shares' cache lines shared.
            while (share.next.load(std::memory_order_relaxed) < share.end) {
                const std::int64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
                if (piece < share.end) body(piece);
            }
        }
    }

private:
    struct alignas(64) Share {  // a cache line each
        std::atomic<std::int64_t> next{0};
        std::int64_t end = 0;
    };
    std::vector<Share> shares_;
};

/// Calls body(take_all) on up to operation_threads() threads, at least on this one, and returns when all pieces in [0, count) are
/// done. In it, take_all(each) calls each(piece) for pieces that no thread has taken, until all are. Which thread runs a piece
/// varies, so the result must not depend on it.
template <class Body>
void share_pieces(std::int64_t count, const Body& body) {
    const std::int64_t threads = std::min(operation_threads(), count);
    if (threads <= 0) return;
    StealableWork work(count, threads);
    run_operation(threads, [&](std::size_t thread) {
        body([&](const auto& each) { work.take_all(static_cast<std::int64_t>(thread), each); });
    });
}

/// Calls body(piece) once for each piece in [0, count), as share_pieces() does.
template <class Body>
void for_each_piece(std::int64_t count, const Body& body) {
    share_pieces(count, [&](const auto& take_all) { take_all(body); });
}

}  // namespace bertpretrain::cpu
