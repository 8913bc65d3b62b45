#include "train/save/save_together.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>

#include "checkpoint/slice_writer.h"
#include "core/error.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

constexpr std::size_t held_at_first = std::size_t{64} << 20;
constexpr std::size_t largest_part = std::size_t{4} << 20, smallest_part = std::size_t{1} << 16;

/// An NFS client may trust its cache of a folder for 60 s.
constexpr auto longest_cache = std::chrono::seconds(90);

/// Rank 0 receives the pieces of the ranks that do not see its files, one part of each per round, and writes them. If rank 0
/// fails, it still receives everything and throws afterwards, so that no rank waits forever. @returns the receipt of the writes
/// (rank 0)
SaveReceipt write_for_others(ControlGroup& ranks, const CheckpointStore& store, const TrainingState& state,
                             const std::vector<bool>& sees_store, const std::function<void()>& sign_of_life) {
    const auto own = static_cast<std::size_t>(ranks.rank());
    const std::size_t part_bytes = std::clamp(held_at_first / sees_store.size(), smallest_part, largest_part);
    const std::vector<SlicePart> parts = sees_store[own] ? std::vector<SlicePart>() : slice_parts(state, part_bytes);
    const auto rounds = static_cast<std::size_t>(ranks.agree_on_largest(static_cast<std::int64_t>(parts.size())));
    const std::size_t message_bytes = SlicePart().pack().size() + part_bytes;
    SaveReceipt receipt;
    std::exception_ptr failure;
    const auto at_first = [&](const auto& work) {
        if (ranks.rank() != 0 || failure) return;
        try {
            work();
        } catch (const Error&) { failure = std::current_exception(); }
    };
    std::optional<SliceWriter> writer;
    at_first([&] { writer.emplace(store.partial_folder(state.step), state); });
    for (std::size_t round = 0; round < rounds; ++round) {
        std::string message = round < parts.size() ? parts[round].pack() : SlicePart().pack();
        message.resize(message_bytes);
        const std::vector<std::string> all = ranks.gather_at_first(message);
        if (sign_of_life) sign_of_life();
        at_first([&] {
            for (std::size_t rank = 0; rank < all.size(); ++rank)
                if (!sees_store[rank]) writer->write(std::string_view(all[rank]));
        });
    }
    at_first([&] { receipt = writer->flush(); });
    together(ranks, [&] {
        if (failure) std::rethrow_exception(failure);
    });
    return receipt;
}

}  // namespace

std::filesystem::path save_together(ControlGroup& ranks, const CheckpointStore& store, const TrainingState& state,
                                    const std::vector<bool>& sees_store, const std::function<void()>& sign_of_life) {
    const bool leads = ranks.rank() == 0;
    std::vector<SaveReceipt> receipts;
    std::filesystem::path folder;
    together(ranks, [&] {
        if (leads) store.begin(state);
    });
    try {
        std::string receipt = SaveReceipt().pack();
        together(ranks, [&] {
            if (!sees_store[static_cast<std::size_t>(ranks.rank())]) return;
            if (!leads) store.await_begun(state.step, longest_cache);
            receipt = store.write(state, sign_of_life).pack();
        });
        for (const std::string& one : ranks.all_gather_texts(receipt)) receipts.push_back(SaveReceipt::unpack(one));
        if (std::find(sees_store.begin(), sees_store.end(), false) != sees_store.end())
            receipts.push_back(write_for_others(ranks, store, state, sees_store, sign_of_life));
    } catch (const Error&) {
        if (leads) store.abandon(state.step);
        throw;
    }
    together(ranks, [&] {
        if (leads) folder = store.complete(state, receipts, sign_of_life);
    });
    return folder;
}

}  // namespace bertpretrain
