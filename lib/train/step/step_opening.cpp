#include "train/step/step_opening.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>

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

struct Agreed {
    bool all_ready = true, save = false, failed = false, devices = false;
    StopReason stop;
    StepCounts counts;
};

Agreed agreed_by(std::span<const double> of_all) {
    constexpr std::size_t count = std::tuple_size_v<decltype(Word().numbers())>;
    Agreed agreed;
    for (std::size_t at = 0; at < of_all.size(); at += count) {
        const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(of_all[at + i]); };
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

}  // namespace

void StepOpener::wait_a_while() {
    for (int slice = 0; slice < 20 && !requests_.reason(); ++slice)
        if (loader_.wait_for(100ms)) return;
}

std::vector<double> StepOpener::word() {
    if (!batch_ && !requests_.reason() && loader_.wait_for(0ms)) {
        clock_.enter(Phase::data);
        try {
            batch_ = loader_.next();
        } catch (const DistributedError& error) {  // of an object store: no rank is lost, so the ranks can still save
            own_failure_ = std::make_exception_ptr(Error(error));
        } catch (const std::exception&) { own_failure_ = std::current_exception(); }
    }
    Word word;
    word.devices = devices_ ? 1 : 0;
    word.failed = own_failure_ ? 1 : 0;
    word.stop = static_cast<double>(requests_.reason().code());
    word.save = requests_.take_save_request() ? 1 : 0;
    if (batch_) {
        word.ready = 1;
        word.sequences = static_cast<double>(batch_->sequences);
        word.tokens = static_cast<double>(batch_->tokens);
        word.masked = static_cast<double>(batch_->masked);
        word.micro_batches = static_cast<double>(batch_->micro_batches.size());
    }
    const auto numbers = word.numbers();
    return {numbers.begin(), numbers.end()};
}

void StepOpener::hear(std::span<const double> of_all) {
    const Agreed agreed = agreed_by(of_all);
    save_ = save_ || agreed.save;
    some_rank_failed_ = agreed.failed;
    if (agreed.stop) agreed_.emplace().stop = agreed.stop;
    if (agreed.stop || agreed.failed || !agreed.all_ready) return;
    const std::int64_t expected = loader_.batch_sizes().of(loader_.position() - 1);
    check(agreed.counts.sequences == expected, "the ranks' parts of a step have ", agreed.counts.sequences,
          " sequences, expected ", expected);
    agreed_ = StepOpening{std::move(*batch_), agreed.counts, {}, save_, agreed.devices, nullptr};
}

StepOpening StepOpener::failed_opening() {
    StepOpening opening;
    try {
        together(world_, [&] {
            if (own_failure_) std::rethrow_exception(own_failure_);
        });
    } catch (const DistributedError&) { throw; } catch (const std::exception&) {
        opening.failure = std::current_exception();
    }
    return opening;
}

StepOpening StepOpener::open() {
    const double begin = seconds_now();
    // Entered once: each further time would tell the watchdog that the samples arrive.
    if (!agreed_ && !some_rank_failed_ && !batch_) clock_.enter(Phase::data);
    while (!agreed_ && !some_rank_failed_) {
        const bool waits = !batch_;
        if (waits) wait_a_while();
        const std::vector<double> own = word();
        if (batch_) clock_.enter(Phase::communication);  // a rank that still waits for data stays in Phase::data
        if (batch_ && waits) batch_->data_wait_seconds = seconds_now() - begin;
        hear(world_.all_gather(std::span<const double>(own)));
    }
    return agreed_ ? std::move(*agreed_) : failed_opening();
}

}  // namespace bertpretrain
