#include "batches/batch_sizes.h"

#include <map>

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using Catch::Matchers::Contains;

TEST_CASE("without a warm-up all steps have the same number of sequences") {
    const BatchSizes sizes(24);
    for (const std::int64_t step : {1, 2, 1'000'000'000}) {
        CHECK(sizes.of(step) == 24);
        CHECK(sizes.samples_before(step) == (step - 1) * 24);
    }
    CHECK(sizes.smallest() == 24);
    CHECK(sizes.largest() == 24);
    CHECK_THROWS_AS(sizes.of(0), std::logic_error);
}

TEST_CASE("each size of a warm-up has the same number of steps within one, and the samples before a step are their sum") {
    for (const BatchWarmup& warmup : {BatchWarmup{12, 4, 4}, {13, 4, 4}, {7, 3, 6}, {100, 1, 1}, {2, 4, 4}, {1, 4, 30}}) {
        INFO(warmup.steps << " steps from " << warmup.from << " by " << warmup.increment);
        const BatchSizes sizes(20, warmup);
        std::map<std::int64_t, std::int64_t> steps_of_size;
        std::int64_t samples = 0;
        for (std::int64_t step = 1; step <= warmup.steps; ++step) {
            CHECK(sizes.samples_before(step) == samples);
            CHECK(sizes.of(step) >= (step > 1 ? sizes.of(step - 1) : warmup.from));
            CHECK((sizes.of(step) - warmup.from) % warmup.increment == 0);
            CHECK(sizes.of(step) < 20);
            ++steps_of_size[sizes.of(step)];
            samples += sizes.of(step);
        }
        CHECK(sizes.of(1) == sizes.smallest());
        const std::int64_t possible = (20 - warmup.from + warmup.increment - 1) / warmup.increment;
        for (const auto& [size, steps] : steps_of_size) {
            CHECK(steps >= warmup.steps / possible);
            CHECK(steps <= warmup.steps / possible + 1);
        }
        if (warmup.steps >= possible) CHECK(std::ssize(steps_of_size) == possible);
        for (std::int64_t step = warmup.steps + 1; step < warmup.steps + 4; ++step, samples += 20) {
            CHECK(sizes.of(step) == 20);
            CHECK(sizes.samples_before(step) == samples);
        }
    }
}

TEST_CASE("ModernBERT's warm-up of 50e9 tokens from 768 to 4,608 sequences ends after as many samples") {
    // Five sizes of which the mean is 2,304: 21,193 steps of 1,024 tokens.
    const BatchSizes sizes(4608, {21'193, 768, 768});
    CHECK(sizes.of(1) == 768);
    CHECK(sizes.of(4239) == 768);
    CHECK(sizes.of(4240) == 1536);
    CHECK(sizes.of(21'193) == 3840);
    CHECK(sizes.of(21'194) == 4608);
    CHECK(static_cast<double>(sizes.samples_before(21'194)) * 1024 == Approx(50e9).epsilon(1e-4));
}

TEST_CASE("steps of another size are counted by their samples") {
    const BatchSizes sizes(20, {4, 4, 8});  // 4, 4, 12, 12, 20, ...
    CHECK(sizes.steps_of(20, 0, 4) == Approx(1.6));
    CHECK(sizes.steps_of(20, 4, 9) == 5);
    CHECK(sizes.steps_of(4, 1, 3) == 4);
    CHECK(sizes.steps_of(20, 9, 9) == 0);
    CHECK(BatchSizes(8).steps_of(8, 3, 10) == 7);
}

TEST_CASE("a batch that cannot grow is not accepted") {
    for (const BatchWarmup& warmup : {BatchWarmup{4, 20, 4}, {4, 30, 4}, {4, 0, 4}, {4, 4, 0}})
        CHECK_THROWS_AS(BatchSizes(20, warmup), std::logic_error);
    CHECK_THROWS_WITH(BatchSizes(1'000'000, {10, 1, 1}), Contains("999999 sizes"));
}
