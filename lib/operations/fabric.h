#pragma once
// The accelerators and networks that a plan assumes. Accelerators and their prices are data: lib/operations/accelerators.json,
// which the build embeds in the program. The command line can override all numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bertpretrain {

/// How a program other than this one communicates: with the rings of the library, in buckets of its own size.
struct OtherProgram {
    std::string name;
    bool overlaps = false;
    double gradient_bytes = 2, weight_bytes = 2;  ///< per parameter, on the wire
    double bucket_mib = 64;
    std::int64_t small_collectives = 0;  ///< per step
};

/// What an accelerator sustained in training another model than that of its own rate, BERT-Large.
struct ModelRate {
    std::string model_type;
    std::int64_t hidden_size = 0;
    double sustained_tflops = 0, rate_tokens = 0;  ///< as in Accelerator
    std::string source;
};

/// One accelerator.
struct Accelerator {
    std::string name;
    double peak_tflops = 0;       ///< bf16, dense; 0: unknown
    double sustained_tflops = 0;  ///< model FLOP/s in training
    double memory_gib = 0;        ///< 0: memory is not checked
    double memory_gbps = 0;       ///< memory bandwidth, GB/s, which limits the optimizer's update
    std::int64_t per_node = 8;
    double price_per_hour = 0;   ///< 0: unknown
    std::string source;          ///< source of the sustained rate
    std::string price_source{};  ///< date and offer; empty: unknown
    std::string currency = "USD";
    double pass_tokens = 0;    ///< tokens per pass at the sustained rate; 0: unknown, so passes of any size have that rate
    double rate_tokens = 128;  ///< tokens per sequence at the sustained rate
    bool runs_here = true;     ///< whether this program runs on it; if not, it is known for comparison only
    bool is_cpu = false;
    std::string network = "efa4";  ///< known name of the network between the machines of the offer
    std::vector<ModelRate> other_models{};
    std::optional<OtherProgram> program{};  ///< by which the rate was measured, if it communicates in another way than this one
};

/// The share of a device's free memory that tensors may take: the rest is for fragments and for what does not ask torch (cuBLAS).
constexpr double usable_memory_share = 0.94;

/// Returns the bytes that a rank's tensors may take in the accelerator's memory: usable_memory_share of what remains beside 0.5
/// GiB of a CUDA context and 0.75 GiB of NCCL. (ptrblck in pytorch#107667: 0.3 GB since CUDA 11.7, above 1 GB before; nccl#964:
/// 688 MB in a group of four A100.) The same is assumed of accelerators without CUDA. On a CPU: all of it.
double memory_for_tensors(const Accelerator& accelerator);

/// A network for collectives: see collective_seconds() and staged_seconds() in step_model.h.
struct Network {
    std::string name;
    double node_gbps = 0;   ///< GB/s out of a node, as achieved by collectives: the "bus bandwidth" of nccl-tests
    double latency_us = 0;  ///< per doubling of the number of ranks
    double local_gbps = 0;  ///< GB/s inside a node, as achieved by collectives
    std::string source;
    double line_gbps = 0;  ///< line rate of a node's adapters together, GB/s: node_gbps is no higher; 0: unknown
};

/// Returns the accelerators of the file, in its order of names.
const std::vector<Accelerator>& known_accelerators();
const std::vector<Network>& known_networks();

/// @throws ConfigError listing the known names
Accelerator find_accelerator(const std::string& name);
/// @param text a known name, or NAME:GB/S[:MICROSECONDS] for another network
/// @throws ConfigError for any other text, and for a known name with a rate above its line rate
Network find_network(const std::string& text);

}  // namespace bertpretrain
