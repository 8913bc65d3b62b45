#pragma once
// What a plan assumes of machines: accelerators, networks, prices. All of it can be given on the command line instead.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bertpretrain {

/// One accelerator.
struct Accelerator {
    std::string name;
    double peak_tflops = 0;       ///< bf16, dense; 0: unknown
    double sustained_tflops = 0;  ///< of the model's operations, in training
    double memory_gib = 0;        ///< 0: not judged
    double memory_gbps = 0;       ///< bandwidth, GB/s: what an optimizer's update is bound by
    std::int64_t per_node = 8;
    double price_per_hour = 0;  ///< 0: unknown
    std::string source;         ///< where the numbers are from, and of when the price is
};

/// What carries collectives. A collective of S bytes among W ranks takes latency * log2(W) + S * (W - 1) / W / bandwidth: of the
/// link inside a node, or for several nodes of what a node sends to others (the "bus bandwidth" of nccl-tests).
struct Network {
    std::string name;
    double node_gbps = 0;   ///< GB/s out of a node, reached by collectives
    double latency_us = 0;  ///< per doubling of the ranks
    double local_gbps = 0;  ///< GB/s inside a node, reached by collectives
    std::string source;
};

const std::vector<Accelerator>& known_accelerators();
const std::vector<Network>& known_networks();

/// @throws ConfigError with those there are
Accelerator find_accelerator(const std::string& name);
/// @param text a name, or NAME:GB/S[:MICROSECONDS] for any other @throws ConfigError
Network find_network(const std::string& text);

}  // namespace bertpretrain
