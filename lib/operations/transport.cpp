#include "operations/transport.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "core/environment.h"
#include "core/error.h"
#include "core/folder_entries.h"
#include "core/strings.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> entries(const fs::path& folder) {
    std::error_code missing;
    std::vector<fs::path> found = folder_entries(folder, missing);
    std::sort(found.begin(), found.end());
    return found;
}

/// Returns the content of a file in /sys or /proc, whose size is not known in advance; "" where it cannot be read.
std::string content_of(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string driver_of(const fs::path& adapter) {
    std::error_code missing;
    return fs::read_symlink(adapter / "device/driver", missing).filename().string();
}

std::vector<std::string> network_cards(const fs::path& root) {
    std::vector<std::string> cards;
    for (const fs::path& card : entries(root / "sys/class/net")) {
        if (card.filename() == "lo" || first_line(content_of(card / "operstate")) == "down") continue;
        const std::string speed = first_line(content_of(card / "speed"));
        cards.push_back(card.filename().string() + (speed.empty() || speed.front() == '-' ? "" : " " + speed + " Mb/s"));
    }
    return cards;
}

std::string variable(const char* name) { return environment_variable(name).value_or(""); }

}  // namespace

std::string Transport::text() const { return adapters.empty() ? name : concat(name, " (", join(adapters), ")"); }

Transport find_transport(at::Device device, bool several_hosts, const fs::path& root) {
    if (!several_hosts) return {device.is_cpu() ? "loopback" : "memory", {}};
    const Transport sockets{"sockets", network_cards(root)};
    if (device.is_cpu()) return sockets;
    const std::string libraries = content_of(root / "proc/self/maps");
    const auto loaded = [&](const char* library) { return libraries.find(library) != std::string::npos; };
    const std::string forced = variable("NCCL_NET");
    Transport efa{"efa", {}}, infiniband{"infiniband", {}};
    for (const fs::path& adapter : entries(root / "sys/class/infiniband")) {
        const std::string driver = driver_of(adapter), name = adapter.filename().string();
        (driver == "efa" ? efa : infiniband).adapters.push_back(driver.empty() ? name : name + " " + driver);
    }
    if (forced == "Socket") return sockets;
    if (!efa.adapters.empty() && loaded("libfabric.so") && loaded("libnccl-net")) return efa;
    if (!infiniband.adapters.empty() && loaded("libibverbs.so") && variable("NCCL_IB_DISABLE") != "1") return infiniband;
    return sockets;
}

}  // namespace bertpretrain
