#include "operations/transport.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <string_view>

#include <sys/mman.h>

#include "core/concat.h"
#include "core/environment.h"
#include "core/files/files.h"
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

/// Returns a path of NCCL's log: a file in memory, which disappears with this process however it ends. "" where there is none.
std::string nccl_log_file() {
    static const int descriptor = ::memfd_create("nccl_log", MFD_CLOEXEC);
    return descriptor < 0 ? "" : concat("/proc/self/fd/", descriptor);
}

}  // namespace

std::string network_in_nccl_log(const std::string& log) {
    // "NET/OFI Selected provider is efa, fabric is efa-direct (found 4 nics)", "Using network Libfabric", "NCCL INFO Using
    // network Socket"
    static const std::regex line("(Selected [Pp]rovider is|Using network) ([A-Za-z;_]+)");
    std::string network;
    bool provider_is_efa = false;
    for (std::sregex_iterator found(log.begin(), log.end(), line), end; found != end; ++found) {
        const std::string word = (*found)[2].str();
        if ((*found)[1].str() != "Using network") provider_is_efa = word.starts_with("efa");
        else if (word == "IB") network = "infiniband";
        else if (word == "Socket") network = "sockets";
        else network = provider_is_efa ? "efa" : "sockets";  // "AWS", "Libfabric" and "OFI" are the plugin for EFA
    }
    return network;
}

void log_network_choice() {
    if (is_set_in_environment("NCCL_DEBUG_FILE")) return;
    if (const std::string level = variable("NCCL_DEBUG"); level == "INFO" || level == "TRACE") return;
    if (nccl_log_file().empty()) return;
    ::setenv("NCCL_DEBUG", "INFO", 1);
    ::setenv("NCCL_DEBUG_SUBSYS", "INIT,NET", 1);
    ::setenv("NCCL_DEBUG_FILE", nccl_log_file().c_str(), 1);
}

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
    if (const std::string log = variable("NCCL_DEBUG_FILE"); !log.empty() && log == nccl_log_file()) {
        const std::string network = network_in_nccl_log(content_of(log));
        for (const Transport& named : {efa, infiniband, sockets})
            if (named.name == network) return named;
    }
    if (forced == "Socket") return sockets;
    if (!efa.adapters.empty() && loaded("libfabric.so") && loaded("libnccl-net")) return efa;
    if (!infiniband.adapters.empty() && loaded("libibverbs.so") && variable("NCCL_IB_DISABLE") != "1") return infiniband;
    return sockets;
}

}  // namespace bertpretrain
