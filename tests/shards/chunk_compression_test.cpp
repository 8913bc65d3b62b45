// The bytes of a compressed chunk.

#include "shards/chunk_compression.h"

#include <pthread.h>
#include <sys/mman.h>
#include <zlib.h>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Random zeros and ones, like next-sentence labels.
std::vector<std::int8_t> labels(std::size_t count, std::uint32_t state) {
    std::vector<std::int8_t> values(count);
    for (std::int8_t& value : values) value = static_cast<std::int8_t>((state = state * 1664525 + 1013904223) >> 16 & 1);
    return values;
}

using Chunks = std::vector<std::vector<std::byte>>;

/// Returns chunks whose first values differ.
Chunks compress_labels() {
    Chunks chunks;
    for (std::uint32_t seed = 1; seed < 9; ++seed) {
        const std::vector<std::int8_t> values = labels(300, seed);
        chunks.push_back(compress_chunk(std::span<const std::int8_t>(values)));
    }
    return chunks;
}

/// Compresses on a thread whose stack is at the given address.
Chunks compress_with_stack_at(std::byte* stack, std::size_t bytes) {
    pthread_attr_t attributes;
    REQUIRE(::pthread_attr_init(&attributes) == 0);
    REQUIRE(::pthread_attr_setstack(&attributes, stack, bytes) == 0);
    const auto run = [](void* argument) -> void* {
        *static_cast<Chunks*>(argument) = compress_labels();
        return nullptr;
    };
    Chunks chunks;
    pthread_t thread;
    REQUIRE(::pthread_create(&thread, &attributes, run, &chunks) == 0);
    REQUIRE(::pthread_join(thread, nullptr) == 0);
    ::pthread_attr_destroy(&attributes);
    return chunks;
}

}  // namespace

TEST_CASE("a chunk's compressed bytes do not depend on memory addresses") {
    constexpr std::size_t places = 4000, apart = 64 << 10, stack = 1 << 20;
    void* const memory = ::mmap(nullptr, places * apart + stack, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    const Chunks expected = compress_labels();
    std::size_t different = 0;
    for (std::size_t place = 0; place < places; ++place)
        different += compress_with_stack_at(static_cast<std::byte*>(memory) + place * apart, stack) != expected;
    ::munmap(memory, places * apart + stack);
    CHECK(different == 0);
}

TEST_CASE("zlib inflates chunks of every small size to their values") {
    for (std::size_t count = 0; count < 700; ++count) {
        const std::vector<std::int8_t> values = labels(count, 1);
        const std::vector<std::byte> chunk = compress_chunk(std::span<const std::int8_t>(values));
        std::vector<std::int8_t> inflated(count + 1);
        uLongf bytes = inflated.size();
        REQUIRE(::uncompress(reinterpret_cast<Bytef*>(inflated.data()), &bytes, reinterpret_cast<const Bytef*>(chunk.data()),
                             chunk.size()) == Z_OK);
        inflated.resize(bytes);
        REQUIRE(inflated == values);
    }
}
