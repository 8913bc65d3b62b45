#include "train/save/host_buffer.h"

#include <fstream>
#include <sstream>

#include <ATen/ATen.h>

#include "support/catch.h"
#include "telemetry/device_usage.h"

using namespace bertpretrain;

namespace {

double resident_bytes() { return DeviceUsageMeter(std::nullopt, 1).sample().memory_bytes; }

}  // namespace

TEST_CASE("a buffer on the host takes its own size of memory at once, not the next power of two") {
    const std::int64_t elements = (std::int64_t{1} << 23) + 1000;  // a little above 32 MiB
    const double bytes = static_cast<double>(elements) * 4, before = resident_bytes();
    {
        const at::Tensor buffer = host_buffer(elements);
        CHECK(resident_bytes() - before == Approx(bytes).epsilon(0.15));
        CHECK(buffer.numel() == elements);
        CHECK(buffer.abs().sum().item<float>() == 0);
        CHECK(buffer.is_contiguous());
    }
    CHECK(resident_bytes() - before < 0.15 * bytes);
    CHECK(host_buffer(0).numel() == 0);
}

TEST_CASE("a buffer's pages stay locked while it is used, and are unlocked before they are given back") {
    std::vector<std::string> calls;
    void* begin = nullptr;
    const PageLock page_lock{[&](void* at, std::size_t bytes) {
                                 begin = at;
                                 calls.push_back("lock " + std::to_string(bytes));
                                 return true;
                             },
                             [&](void* at) { calls.push_back(at == begin ? "unlock" : "unlock another"); }};
    {
        const at::Tensor part = host_buffer(1000, &page_lock).slice(0, 10, 20);
        CHECK(calls == std::vector<std::string>{"lock 4000"});
        CHECK(part.sum().item<float>() == 0);
    }
    CHECK(calls == std::vector<std::string>{"lock 4000", "unlock"});
}

TEST_CASE("a buffer whose pages cannot be locked is used as it is") {
    bool unlocked = false;
    const PageLock refuses{[](void*, std::size_t) { return false; }, [&](void*) { unlocked = true; }};
    { host_buffer(1000, &refuses).fill_(1); }
    CHECK_FALSE(unlocked);
}
