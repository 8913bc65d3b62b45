#include "operations/fabric.h"

#include <charconv>
#include <sstream>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr double local_gbps_of_others = 230;  // NVSwitch of an A100 node

template <class Named>
std::string names_of(const std::vector<Named>& all) {
    std::vector<std::string> names;
    for (const Named& one : all) names.push_back(one.name);
    return join(names);
}

double positive_number(const std::string& text, const std::string& whole) {
    double number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size() || !(number >= 0) || !(number < 1e12))
        throw ConfigError(
            concat("--network ", whole, ": \"", text, "\" is not a non-negative number; expected NAME:GB/S[:MICROSECONDS]"));
    return number;
}

}  // namespace

const std::vector<Accelerator>& known_accelerators() {
    static const std::vector<Accelerator> all{
        {"a100", 312, 140, 80, 2039, 8, 5.12,
         "sustained: BERT-Large, NVIDIA DeepLearningExamples 21.11 on 8 A100; p4de.24xlarge on demand, us-east-1, 2024"},
        {"a100-40", 312, 140, 40, 1555, 8, 4.10, "as a100; p4d.24xlarge on demand, us-east-1, 2024"},
        {"h100", 989, 400, 80, 3350, 8, 12.29, "sustained: assumed to be 40 % of peak; p5.48xlarge on demand, us-east-1, 2024"},
        {"gaudi1", 0, 41.5, 32, 1000, 8, 1.64,
         "sustained: BERT-Large, DeepSpeed on 8 Gaudi1; dl1.24xlarge on demand, us-east-1, 2024"},
    };
    return all;
}

const std::vector<Network>& known_networks() {
    static const std::vector<Network> all{
        {"efa32", 437, 40, 360, "32 x 100 Gbit/s EFA (p5.48xlarge): nccl-tests on two nodes"},
        {"hdr8", 172, 50, 230, "8 x 200 Gbit/s InfiniBand (DGX A100): assumes the share of line rate of efa4; latency assumed"},
        {"efa4", 43, 200, 230, "4 x 100 Gbit/s EFA (p4d, dl1): nccl-tests on two nodes, fitted to 64 KiB ... 1 GiB"},
        {"efa1", 5.9, 200, 230, "one EFA adapter: nccl-tests' largest bus bandwidth on two p4d"},
        {"tcp", 2.4, 400, 230, "sockets: nccl-tests' largest bus bandwidth on two p4d; latency assumed"},
    };
    return all;
}

Accelerator find_accelerator(const std::string& name) {
    for (const Accelerator& accelerator : known_accelerators())
        if (accelerator.name == name) return accelerator;
    throw ConfigError(concat("--accelerator ", name, ": unknown; known are: ", names_of(known_accelerators()),
                             "\n  do: for another one, take the nearest and set --tflops, --memory-gib and --price"));
}

Network find_network(const std::string& text) {
    for (const Network& network : known_networks())
        if (network.name == text) return network;
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
    if (parts.size() < 2 || parts.size() > 3)
        throw ConfigError(concat("--network ", text, ": unknown; known are: ", names_of(known_networks()),
                                 "\n  do: describe another one as NAME:GB/S[:MICROSECONDS], such as mine:12.5:50"));
    Network network{parts[0], positive_number(parts[1], text), 0, local_gbps_of_others, "given"};
    if (parts.size() == 3) network.latency_us = positive_number(parts[2], text);
    if (network.node_gbps == 0) throw ConfigError(concat("--network ", text, ": GB/S must be above 0"));
    return network;
}

}  // namespace bertpretrain
