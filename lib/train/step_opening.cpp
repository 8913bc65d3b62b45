#include "train/step_opening.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/clock.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using namespace std::chrono_literals;

/// What a rank tells the others.
struct Word {
    double ready = 0, signal = 0, save = 0, sequences = 0, tokens = 0, masked = 0, micro_batches = 0;
    std::array<double, 7> numbers() const { return {ready, signal, save, sequences, tokens, masked, micro_batches}; }
};

/// @returns whether the next batch is here; gives up after two seconds, or when asked to stop
bool wait_a_while(BatchLoader& loader, const StopRequest& requests) {
    for (int slice = 0; slice < 20; ++slice) {
        if (loader.wait_for(100ms)) return true;
        if (requests.signal() != 0) return false;
    }
    return false;
}

Word word_of(const std::optional<GlobalBatch>& batch, StopRequest& requests) {
    Word word;
    word.signal = requests.signal();
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
    bool all_ready = true, save = false;
    int signal = 0;
    StepCounts counts;
};

Agreed agree(World& world, const Word& own) {
    const auto numbers = own.numbers();
    const std::vector<double> all = world.all_gather(std::span<const double>(numbers));
    Agreed agreed;
    for (std::size_t at = 0; at < all.size(); at += numbers.size()) {
        const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(all[at + i]); };
        agreed.all_ready = agreed.all_ready && number(0) == 1;
        agreed.signal = std::max(agreed.signal, static_cast<int>(number(1)));
        agreed.save = agreed.save || number(2) == 1;
        agreed.counts.sequences += number(3);
        agreed.counts.tokens += number(4);
        agreed.counts.masked += number(5);
        agreed.counts.micro_batches += number(6);
        agreed.counts.fewest_micro_batches = at == 0 ? number(6) : std::min(agreed.counts.fewest_micro_batches, number(6));
    }
    return agreed;
}

}  // namespace

StepOpening open_step(World& world, BatchLoader& loader, StopRequest& requests, PhaseClock& clock) {
    const double begin = seconds_now();
    std::optional<GlobalBatch> batch;
    bool save = false;
    clock.enter(Phase::data);
    for (;;) {
        if (!batch && requests.signal() == 0 && wait_a_while(loader, requests)) {
            batch = loader.next();
            batch->data_wait_seconds = seconds_now() - begin;
        }
        if (batch) clock.enter(Phase::communication);  // a rank that still waits for data stays in that phase
        const Agreed agreed = agree(world, word_of(batch, requests));
        save = save || agreed.save;
        if (agreed.signal != 0) return {{}, {}, agreed.signal, false};
        if (!agreed.all_ready) continue;
        check(agreed.counts.sequences == loader.global_batch_sequences(), "the ranks' parts of a step make ",
              loader.global_batch_sequences(), " sequences, not ", agreed.counts.sequences);
        return {std::move(*batch), agreed.counts, 0, save};
    }
}

}  // namespace bertpretrain
