// Stand-ins for libtorch's classes, with and without the functions that a version lacks.
#include "core/torch_versions.h"

#include <memory>
#include <utility>
#include <vector>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

struct OldGloo {
    struct Options {
        std::chrono::milliseconds timeout{};
        std::vector<std::string> devices;
        int threads = 2;
        static std::shared_ptr<Options> create(std::chrono::milliseconds given) {
            return std::make_shared<Options>(Options{given, {}, 2});
        }
    };
    static std::string createDeviceForInterface(const std::string& name, bool lazy) { return name + (lazy ? " lazy" : ""); }
    static std::string createDefaultDevice(bool lazy) { return lazy ? "default lazy" : "default"; }
};

struct NewGloo {
    struct Options {
        std::chrono::milliseconds timeout{};
        static std::shared_ptr<Options> create_default(std::chrono::milliseconds given) {
            return std::make_shared<Options>(Options{given});
        }
    };
};

struct OldAllocator {};
struct NewAllocator {
    std::pair<std::size_t, std::size_t> getMemoryInfo(int device) { return {static_cast<std::size_t>(device) + 5, 99}; }
};

}  // namespace

TEST_CASE("Gloo's default options have a device for each named interface, or one for the host's name") {
    const std::chrono::milliseconds timeout(70);
    const auto named = default_gloo_options<OldGloo>(timeout, "eth0,eth1", true);
    CHECK(named->devices == std::vector<std::string>{"eth0 lazy", "eth1 lazy"});
    CHECK(named->threads == 4);
    CHECK(named->timeout == timeout);
    const auto unnamed = default_gloo_options<OldGloo>(timeout, "", false);
    CHECK(unnamed->devices == std::vector<std::string>{"default"});
    CHECK(unnamed->threads == 2);
    CHECK(default_gloo_options<NewGloo>(timeout, "eth0", false)->timeout == timeout);
}

TEST_CASE("free memory is that of the allocator, or nothing where libtorch's cannot tell") {
    NewAllocator allocator;
    OldAllocator old;
    CHECK(free_bytes_of(allocator, 2) == std::size_t{7});
    CHECK(free_bytes_of(old, 2) == std::nullopt);
}
