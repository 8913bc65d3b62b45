#pragma once
// What differs between the versions of libtorch that the program is built against (scripts/portable/torch_versions.txt). The
// classes come as template parameters, so that this file includes nothing of torch. A function that a version lacks is replaced
// here.

#include <chrono>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>

namespace bertpretrain {

/// Returns options of Gloo (c10d::ProcessGroupGloo) with a device for each of `interfaces` (separated by commas; the value of
/// GLOO_SOCKET_IFNAME), or for the address of the host's name if that is empty. libtorch 2.9 lacks Options::create_default, which
/// reads that variable itself.
/// @param lazy  devices connect at the first send (c10d::getDefaultGlooLazyInit())
template <class Group>
auto default_gloo_options(std::chrono::milliseconds timeout, const std::string& interfaces, bool lazy) {
    using Options = typename Group::Options;
    if constexpr (requires { Options::create_default(timeout); }) {
        return Options::create_default(timeout);
    } else {
        auto options = Options::create(timeout);
        std::istringstream names(interfaces);
        for (std::string name; std::getline(names, name, ',');)
            options->devices.push_back(Group::createDeviceForInterface(name, lazy));
        if (options->devices.empty()) options->devices.push_back(Group::createDefaultDevice(lazy));
        options->threads = 2 * static_cast<int>(options->devices.size());
        return options;
    }
}

/// Returns the free bytes of a device by its allocator (c10::DeviceAllocator); nothing if libtorch's allocators cannot tell
/// (2.9).
template <class Allocator, class Index>
std::optional<std::size_t> free_bytes_of(Allocator& allocator, Index device) {
    if constexpr (requires { allocator.getMemoryInfo(device); }) return allocator.getMemoryInfo(device).first;
    else return std::nullopt;
}

}  // namespace bertpretrain
