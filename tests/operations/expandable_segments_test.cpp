#include "operations/expandable_segments.h"

#include <c10/core/AllocatorConfig.h>
#include <c10/util/Exception.h>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// An environment in which `name` alone is set.
Variables only(const std::string& name, const std::string& value) {
    return [name, value](const std::string& asked) { return asked == name ? std::optional(value) : std::nullopt; };
}

const Variables nothing = only("", "");

/// A GPU without virtual memory management. @returns how often it was asked
int allocate_without_virtual_memory(const Variables& environment) {
    int asked = 0;
    try_first_allocation(
        [&] {
            ++asked;
            TORCH_CHECK(!has_expandable_segments(), "CUDA driver error: operation not supported");
        },
        environment);
    return asked;
}

}  // namespace

TEST_CASE("segments grow unless the environment says otherwise") {
    CHECK(wants_expandable_segments(nothing));
    CHECK(wants_expandable_segments(only("PYTORCH_ALLOC_CONF", "max_split_size_mb:128")));
    CHECK_FALSE(wants_expandable_segments(only("PYTORCH_ALLOC_CONF", "max_split_size_mb:128,expandable_segments:False")));
    CHECK_FALSE(wants_expandable_segments(only("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:False")));
    CHECK_FALSE(wants_expandable_segments(only("PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync")));
}

TEST_CASE("a GPU that can let segments grow keeps them") {
    set_expandable_segments(false);
    int asked = 0;
    try_first_allocation([&] { ++asked; }, nothing);
    CHECK(asked == 1);
    CHECK(has_expandable_segments());
}

TEST_CASE("a GPU without virtual memory management takes memory in fixed blocks, and keeps torch's other settings") {
    c10::CachingAllocator::AcceleratorAllocatorConfig::instance().parseArgs("max_split_size_mb:100");
    const std::size_t split = c10::CachingAllocator::AcceleratorAllocatorConfig::max_split_size();
    CHECK(allocate_without_virtual_memory(nothing) == 2);
    CHECK_FALSE(has_expandable_segments());
    CHECK(c10::CachingAllocator::AcceleratorAllocatorConfig::max_split_size() == split);
    CHECK(allocate_without_virtual_memory(only("PYTORCH_ALLOC_CONF", "expandable_segments:False")) == 1);
}

TEST_CASE("a full GPU keeps its segments, and a broken one is told") {
    set_expandable_segments(false);
    CHECK_NOTHROW(try_first_allocation(
        [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 2 MiB"); }, nothing));
    CHECK(has_expandable_segments());
    CHECK_THROWS_WITH(try_first_allocation([] { TORCH_CHECK(false, "CUDA error: unspecified launch failure"); }, nothing),
                      Catch::Contains("launch failure"));
    set_expandable_segments(false);
}
