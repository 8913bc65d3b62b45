#include "operations/fabric.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "operations/accelerators_json.h"

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

std::vector<Accelerator> read_accelerators() {
    const nlohmann::ordered_json file = nlohmann::ordered_json::parse(accelerators_json);
    std::vector<Accelerator> all;
    for (const auto& [name, entry] : file.at("accelerators").items()) {
        Accelerator& one = all.emplace_back();
        one.name = name;
        one.runs_here = entry.at("runs_here");
        one.peak_tflops = entry.at("peak_tflops");
        one.sustained_tflops = entry.at("sustained_tflops");
        one.memory_gib = entry.at("memory_gib");
        one.memory_gbps = entry.at("memory_gbps");
        one.per_node = entry.at("per_node");
        one.source = entry.at("source");
        one.pass_tokens = entry.value("pass_tokens", 0.0);
        one.currency = file.at("currency");
        one.network = entry.value("network", one.network);
        for (const auto& rate : entry.value("other_models", nlohmann::ordered_json::array()))
            one.other_models.push_back({rate.at("model_type"), rate.at("hidden_size"), rate.at("sustained_tflops"),
                                        rate.at("rate_tokens"), rate.at("source")});
        if (entry.contains("program")) {
            const auto& program = entry.at("program");
            one.program = OtherProgram{program.at("name"),         program.at("overlaps"),   program.at("gradient_bytes"),
                                       program.at("weight_bytes"), program.at("bucket_mib"), program.at("small_collectives")};
        }
        if (!entry.contains("price")) continue;
        one.price_per_hour = entry.at("price");
        one.price_source = concat(file.at("date").get<std::string>(), ", ", entry.at("offer").get<std::string>(), ", ",
                                  file.at("price_source").get<std::string>());
    }
    return all;
}

}  // namespace

const std::vector<Accelerator>& known_accelerators() {
    static const std::vector<Accelerator> all = read_accelerators();
    return all;
}

const std::vector<Network>& known_networks() {
    static const std::vector<Network> all{
        {"efa32", 400, 40, 360,
         "32 x 100 Gbit/s EFA (p5.48xlarge): the line rate; nccl-tests measured 437 on two nodes, where NVLink carries a part",
         400},
        {"ndr8", 94, 5, 400,
         "8 x 400 Gbit/s InfiniBand (DGX H100): fitted to NVIDIA's MLPerf 3 results for BERT on 64 and 3,472 GPUs", 400},
        {"hdr8", 172, 10, 230,
         "8 x 200 Gbit/s InfiniBand (DGX A100): assumes the share of line rate of efa4; latency fitted to NVIDIA's results "
         "with Paddle for BERT on 128 and 256 GPUs",
         200},
        {"efa4", 43, 200, 230, "4 x 100 Gbit/s EFA (p4d, dl1): nccl-tests on two nodes, fitted to 64 KiB ... 1 GiB", 50},
        {"efa1", 5.9, 200, 230, "one EFA adapter: nccl-tests' largest bus bandwidth on two p4d", 12.5},
        {"tcp", 2.4, 400, 230, "sockets: nccl-tests' largest bus bandwidth on two p4d; latency assumed", 50},
    };
    return all;
}

double memory_for_tensors(const Accelerator& accelerator) {
    constexpr double context_and_nccl_gib = 0.5 + 0.75;
    if (accelerator.is_cpu) return accelerator.memory_gib * 0x1p30;
    return usable_memory_share * std::max(0.0, accelerator.memory_gib - context_and_nccl_gib) * 0x1p30;
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
    for (const Network& known : known_networks())
        if (known.name == network.name && network.node_gbps > known.line_gbps)
            throw ConfigError(concat("--network ", text, ": the line rate of ", known.name, " is ", known.line_gbps,
                                     " GB/s\n  do: give at most that, or another name"));
    return network;
}

}  // namespace bertpretrain
