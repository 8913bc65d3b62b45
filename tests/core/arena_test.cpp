#include "core/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

/// Takes and gives back blocks as a training step does: most are kept until the backward pass, which gives them back in reverse
/// order, and there are always some short-lived ones. `tokens` varies per step.
void step(Arena& arena, std::size_t tokens) {
    constexpr std::size_t layers = 6, hidden = 96;
    std::vector<void*> kept;
    for (std::size_t layer = 0; layer < layers; ++layer)
        for (const std::size_t width : {6 * hidden, 2 * hidden, 4 * hidden, 8 * hidden, 8 * hidden, 4 * hidden}) {
            void* const passing = arena.take(tokens * 4 * hidden);
            kept.push_back(arena.take(tokens * width));
            arena.give_back(passing);
        }
    void* gradient = arena.take(tokens * 4 * hidden);
    while (!kept.empty()) {
        void* const widest = arena.take(tokens * 8 * hidden);
        void* const next = arena.take(tokens * 4 * hidden);
        arena.give_back(widest);
        arena.give_back(kept.back());
        arena.give_back(gradient);
        gradient = next;
        kept.pop_back();
    }
    arena.give_back(gradient);
}

}  // namespace

TEST_CASE("memory that was given back to an arena is used again") {
    Arena arena(64 * MiB);
    void* const first = arena.take(3 * MiB);
    void* const second = arena.take(2 * MiB);
    const std::size_t before = arena.usage().system_allocations;
    arena.give_back(first);
    CHECK(arena.take(3 * MiB) == first);
    arena.give_back(second);
    CHECK(arena.take(1 * MiB) == second);
    CHECK(arena.usage().system_allocations == before);
}

TEST_CASE("an arena merges adjacent free blocks, in any order in which they were freed") {
    for (const std::vector<std::size_t>& order : std::vector<std::vector<std::size_t>>{{0, 1, 2}, {2, 1, 0}, {0, 2, 1}}) {
        Arena arena(64 * MiB);
        std::vector<void*> blocks;
        for (int i = 0; i < 3; ++i) blocks.push_back(arena.take(4 * MiB));
        arena.take(64);
        const std::size_t before = arena.usage().system_allocations;
        for (const std::size_t i : order) arena.give_back(blocks[i]);
        CHECK(arena.take(12 * MiB) == blocks[0]);
        CHECK(arena.usage().system_allocations == before);
    }
}

TEST_CASE("blocks of an arena are aligned, and none overlaps another") {
    struct Taken {
        unsigned char* at;
        std::size_t bytes;
        unsigned char mark;
    };
    Arena arena(64 * MiB);
    RandomSequence random(7, Purpose::masking, 0);
    std::vector<Taken> taken;
    std::size_t spoilt = 0;
    for (int i = 0; i < 3000; ++i) {
        if (taken.size() > 40 || (!taken.empty() && random.next() % 2 == 0)) {
            const std::size_t which = random.next() % taken.size();
            const Taken one = taken[which];
            spoilt += static_cast<std::size_t>(
                std::any_of(one.at, one.at + one.bytes, [&](unsigned char byte) { return byte != one.mark; }));
            arena.give_back(one.at);
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
        } else {
            const std::size_t bytes = 1 + random.next() % (random.next() % 8 == 0 ? 300'000 : 3000);
            auto* const at = static_cast<unsigned char*>(arena.take(bytes));
            REQUIRE(at != nullptr);
            REQUIRE(reinterpret_cast<std::uintptr_t>(at) % 64 == 0);
            const auto mark = static_cast<unsigned char>(i);
            std::memset(at, mark, bytes);
            taken.push_back({at, bytes, mark});
        }
    }
    CHECK(spoilt == 0);
}

TEST_CASE("steps of varying sizes hold at most a tenth more than the largest needs, and soon allocate nothing from the system") {
    Arena arena(1024 * MiB);
    void* const weights = arena.take(20 * MiB);
    RandomSequence random(3, Purpose::masking, 0);
    const auto tokens = [&] { return 64 * (20 + random.next() % 13); };  // up to 2,048
    for (int i = 0; i < 10; ++i) step(arena, tokens());
    step(arena, 2048);
    const Arena::Usage warm = arena.usage();
    for (int i = 0; i < 200; ++i) step(arena, tokens());
    const Arena::Usage usage = arena.usage();
    CAPTURE(usage.held_bytes, usage.largest_used_bytes, usage.system_allocations);
    CHECK(usage.system_allocations == warm.system_allocations);
    CHECK(static_cast<double>(usage.held_bytes) < 1.1 * static_cast<double>(usage.largest_used_bytes));
    arena.give_back(weights);
    CHECK(arena.usage().used_bytes == 0);
}

TEST_CASE("a full arena returns null, and serves requests again after a block was given back") {
    Arena arena(4 * MiB);
    void* const all = arena.take(4 * MiB);
    REQUIRE(all != nullptr);
    CHECK(arena.take(64) == nullptr);
    CHECK(arena.take(~std::size_t{0} / 2) == nullptr);
    arena.give_back(all);
    CHECK(arena.take(64) == all);
}

TEST_CASE("threads share an arena") {
    Arena arena(256 * MiB);
    std::vector<std::thread> threads;
    std::vector<int> spoilt(4);
    for (std::size_t t = 0; t < spoilt.size(); ++t)
        threads.emplace_back([&, t] {
            const auto mark = static_cast<int>(t + 1);
            for (std::size_t i = 0; i < 500; ++i) {
                const std::size_t numbers = 1 + (i * 37 + t * 101) % 2000;
                auto* const block = static_cast<int*>(arena.take(numbers * sizeof(int)));
                std::fill_n(block, numbers, mark);
                spoilt[t] += static_cast<int>(std::count_if(block, block + numbers, [&](int one) { return one != mark; }));
                arena.give_back(block);
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(spoilt == std::vector<int>(4));
    CHECK(arena.usage().used_bytes == 0);
}
