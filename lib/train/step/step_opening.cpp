#include "train/step/step_opening.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/clock.h"
#include "core/error.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

using namespace std::chrono_literals;

/// A rank's message to the others.
struct Word {
    double ready = 0, stop = 0, save = 0, sequences = 0, tokens = 0, masked = 0, micro_batches = 0, failed = 0, devices = 0;
    std::array<double, 9> numbers() const {
        return {ready, stop, save, sequences, tokens, masked, micro_batches, failed, devices};
    }
};

/// Waits for the next batch, at most two seconds or until a stop request. @returns whether the batch is ready
bool wait_a_while(BatchLoader& loader, const StopRequest& requests) {
    for (int slice = 0; slice < 20; ++slice) {
        if (loader.wait_for(100ms)) return true;
        if (requests.reason()) return false;
    }
    return false;
}

Word word_of(const std::optional<GlobalBatch>& batch, bool failed, StopRequest& requests) {
    Word word;
    word.failed = failed ? 1 : 0;
    word.stop = static_cast<double>(requests.reason().code());
    word.save = requests.take_save_request() ? 1 : 0;
    if (!batch) return word;
    word.ready = 1;
    word.sequences = static_cast<double>(batch->sequences);
    word.tokens = static_cast<double>(batch->tokens);
    word.masked = static_cast<double>(batch->masked);
    word.micro_batches = static_cast<double>(batch->micro_batches.size());
    return word;
}

struct Agreed {
    bool all_ready = true, save = false, failed = false, devices = false;
    StopReason stop;
    StepCounts counts;
};

Agreed agree(World& world, const Word& own) {
    const auto numbers = own.numbers();
    const std::vector<double> all = world.all_gather(std::span<const double>(numbers));
    Agreed agreed;
    for (std::size_t at = 0; at < all.size(); at += numbers.size()) {
        const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(all[at + i]); };
        agreed.all_ready = agreed.all_ready && number(0) == 1;
        agreed.stop = std::max(agreed.stop, StopReason::of_code(number(1)));
        agreed.save = agreed.save || number(2) == 1;
        agreed.failed = agreed.failed || number(7) == 1;
        agreed.devices = agreed.devices || number(8) == 1;
        agreed.counts.sequences += number(3);
        agreed.counts.tokens += number(4);
        agreed.counts.masked += number(5);
        agreed.counts.micro_batches += number(6);
        agreed.counts.fewest_micro_batches = at == 0 ? number(6) : std::min(agreed.counts.fewest_micro_batches, number(6));
    }
    return agreed;
}

/// Distributes the failure of a rank; all ranks call it together. @param own this rank's failure, or null
StepOpening failed_opening(World& world, const std::exception_ptr& own) {
    StepOpening opening;
    try {
        together(world, [&] {
            if (own) std::rethrow_exception(own);
        });
    } catch (const DistributedError&) { throw; } catch (const std::exception&) {
        opening.failure = std::current_exception();
    }
    return opening;
}

}  // namespace

StepOpening open_step(World& world, BatchLoader& loader, StopRequest& requests, PhaseClock& clock, bool devices) {
    const double begin = seconds_now();
    std::optional<GlobalBatch> batch;
    std::exception_ptr failure;
    bool save = false;
    clock.enter(Phase::data);
    for (;;) {
        if (!batch && !requests.reason() && wait_a_while(loader, requests)) {
            try {
                batch = loader.next();
                batch->data_wait_seconds = seconds_now() - begin;
            } catch (const std::exception&) { failure = std::current_exception(); }
        }
        if (batch) clock.enter(Phase::communication);  // a rank that still waits for data stays in Phase::data
        Word word = word_of(batch, failure != nullptr, requests);
        word.devices = devices ? 1 : 0;
        const Agreed agreed = agree(world, word);
        save = save || agreed.save;
        if (agreed.stop) return {{}, {}, agreed.stop, false, false, nullptr};
        if (agreed.failed) return failed_opening(world, failure);
        if (!agreed.all_ready) continue;
        const std::int64_t expected = loader.batch_sizes().of(loader.position() - 1);
        check(agreed.counts.sequences == expected, "the ranks' parts of a step have ", agreed.counts.sequences,
              " sequences, expected ", expected);
        return {std::move(*batch), agreed.counts, {}, save, agreed.devices, nullptr};
    }
}

}  // namespace bertpretrain
