#include "operations/step_model.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/concat.h"

namespace bertpretrain {
namespace {

/// Returns the stage after which each bucket's gradients are final.
std::vector<std::size_t> final_stages(const ParameterLayout& layout, const std::vector<std::size_t>& stage_ends) {
    std::vector<std::size_t> stages(layout.buckets().size(), 0);
    for (std::size_t p = 0; p < layout.parameters().size(); ++p) {
        const auto stage = std::upper_bound(stage_ends.begin(), stage_ends.end(), p) - stage_ends.begin();
        std::size_t& last = stages[layout.parameters()[p].bucket];
        last = std::max(last, std::min(static_cast<std::size_t>(stage), stage_ends.size() - 1));
    }
    return stages;
}

/// Seconds of every bucket's reduction and gathering.
struct BucketTimes {
    std::vector<double> reduce, gather;
    double sum() const {
        double sum = 0;
        for (std::size_t b = 0; b < reduce.size(); ++b) sum += reduce[b] + gather[b];
        return sum;
    }
};

BucketTimes bucket_times(const PlannedStep& step, const ParameterLayout& layout, const Accelerator& accelerator,
                         const Network& network) {
    BucketTimes times;
    std::vector<bool> exact(layout.buckets().size(), false);
    for (const PlacedParameter& parameter : layout.parameters())
        if (!parameter.spec.decays) exact[parameter.bucket] = true;
    const bool pays = accelerator.per_node == 1 || goes_in_stages(step.world_size, accelerator.per_node);
    const bool takes_fp32 = step.chooses_dtype && !pays, in_stages = step.in_stages && !takes_fp32;
    const double gradient_bytes = takes_fp32 ? 4 : step.gradient_bytes;
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
        const auto elements = static_cast<double>(layout.buckets()[b].elements());
        const auto seconds = [&](bool staged, double bytes) {
            return (staged ? staged_seconds : collective_seconds)(network, step.world_size, accelerator.per_node,
                                                                  elements * bytes);
        };
        // Sums of rounded gradients are fp32; other programs send them back as they came.
        const double sum_bytes = in_stages ? 4 : gradient_bytes;
        const double back = seconds(accelerator.is_cpu, step.zero_stage == 0 ? sum_bytes : exact[b] ? 4 : step.weight_bytes);
        const double there = seconds(accelerator.is_cpu || in_stages, gradient_bytes);
        // ZeRO stage 0 gathers the sums on all ranks right after each bucket's reduction.
        times.reduce.push_back(step.zero_stage == 0 ? there + back : there);
        times.gather.push_back(step.zero_stage == 0 ? 0 : back);
    }
    return times;
}

/// Returns the seconds of reductions that remain when the last backward ends.
double exposed_reduce(const BucketTimes& times, const std::vector<std::size_t>& final_stage, const std::vector<double>& shares,
                      double backward) {
    std::vector<double> stage_end(shares.size());
    double clock = 0;
    for (std::size_t s = 0; s < shares.size(); ++s) stage_end[s] = clock += shares[s] * backward;
    double sent = 0;
    for (std::size_t b = 0; b < times.reduce.size(); ++b) sent = std::max(sent, stage_end[final_stage[b]]) + times.reduce[b];
    return std::max(0.0, sent - clock);
}

/// Returns by how many seconds gathering delays the first forward. Buckets arrive from the last to the first, and a stage needs
/// its own buckets and all later ones.
double exposed_gather(const BucketTimes& times, const std::vector<std::size_t>& first_bucket, const std::vector<double>& shares,
                      double forward) {
    std::vector<double> arrived(times.gather.size());
    double clock = 0;
    for (std::size_t b = times.gather.size(); b-- > 0;) arrived[b] = clock += times.gather[b];
    double now = 0;
    for (std::size_t s = shares.size(); s-- > 0;) now = std::max(now, arrived[first_bucket[s]]) + shares[s] * forward;
    return now - forward;
}

/// Returns, for each stage, the first bucket that contains one of its parameters.
std::vector<std::size_t> first_buckets(const ParameterLayout& layout, const std::vector<std::size_t>& stage_ends) {
    std::vector<std::size_t> buckets{0};
    for (std::size_t s = 0; s + 1 < stage_ends.size(); ++s)
        buckets.push_back(layout.parameters()[std::min(stage_ends[s], layout.parameters().size() - 1)].bucket);
    return buckets;
}

}  // namespace

std::int64_t PlannedStep::accumulation() const {
    const std::int64_t of_all = world_size * micro_batch_size;
    return std::max<std::int64_t>(1, (global_batch + of_all - 1) / of_all);
}

double PlannedStep::flops_per_sequence() const {
    return model_flops(model, tokens_per_sequence, tokens_per_sequence * tokens_per_sequence, masked_per_sequence, 1);
}

ParameterLayout PlannedStep::layout() const { return layout_of(model, bucket_mib, world_size); }

double collective_seconds(const Network& network, std::int64_t world_size, std::int64_t per_node, double bytes) {
    if (world_size <= 1) return 0;
    const auto ranks = static_cast<double>(world_size);
    const double gbps = world_size <= per_node ? network.local_gbps : std::min(network.local_gbps, network.node_gbps);
    return network.latency_us * 1e-6 * std::log2(ranks) + bytes * (ranks - 1) / ranks / (gbps * 1e9);
}

bool goes_in_stages(std::int64_t world_size, std::int64_t per_node) {
    return per_node > 1 && world_size > per_node && world_size % per_node == 0;
}

double staged_seconds(const Network& network, std::int64_t world_size, std::int64_t per_node, double bytes) {
    if (world_size <= per_node) return collective_seconds(network, world_size, per_node, bytes);
    const auto ranks = static_cast<double>(world_size), of_node = static_cast<double>(per_node), nodes = ranks / of_node;
    const double latency = network.latency_us * 1e-6 * std::log2(ranks);
    if (!goes_in_stages(world_size, per_node))
        return latency + of_node * bytes * (ranks - of_node) / ranks / (network.node_gbps * 1e9);
    return latency + bytes * (of_node - 1) / of_node / (network.local_gbps * 1e9) +
           bytes * (nodes - 1) / nodes / (network.node_gbps * 1e9);
}

double message_seconds(const Network& network, std::int64_t world_size) {
    constexpr double in_hosts_us = 75, least_latency_us = 25;
    return std::ceil(std::log2(static_cast<double>(world_size))) *
           (std::max(network.latency_us, least_latency_us) + in_hosts_us) * 1e-6;
}

PlannedStep as_done_by(const OtherProgram& program, PlannedStep step) {
    step.overlaps = step.overlaps && program.overlaps;
    step.gradient_bytes = program.gradient_bytes;
    step.weight_bytes = program.weight_bytes;
    step.bucket_mib = program.bucket_mib;
    step.in_stages = step.chooses_dtype = false;
    step.messages = 0;
    step.small_collectives = program.small_collectives;
    return step;
}

double small_pass_factor(const Accelerator& accelerator, std::int64_t hidden_size, double tokens) {
    if (accelerator.pass_tokens == 0) return 1;
    const double overhead = 800.0 * 1024 / static_cast<double>(hidden_size);
    return std::max(1.0, (1 + overhead / tokens) / (1 + overhead / accelerator.pass_tokens));
}

double length_factor(const PlannedStep& step, const Accelerator& accelerator) {
    constexpr double attention_costs = 3;
    const auto seconds_per_operation = [&](double tokens) {
        const double masked = step.masked_per_sequence * tokens / step.tokens_per_sequence;
        const double all = model_flops(step.model, tokens, tokens * tokens, masked, 1);
        return 1 + (attention_costs - 1) * (1 - model_flops(step.model, tokens, 0, masked, 1) / all);
    };
    return seconds_per_operation(step.tokens_per_sequence) / seconds_per_operation(accelerator.rate_tokens);
}

Accelerator with_rate_of(Accelerator accelerator, const ModelConfig& model, double tokens_per_sequence) {
    if (model.model_type == ModelType::bert) return accelerator;
    const auto hidden_size = static_cast<double>(shape_of(model).hidden_size);
    const auto distance = [&](const ModelRate& rate) {
        return std::pair(std::fabs(std::log(static_cast<double>(rate.hidden_size) / hidden_size)),
                         std::fabs(std::log(rate.rate_tokens / tokens_per_sequence)));
    };
    const auto nearest_of = [&](const Accelerator& one) {
        const ModelRate* nearest = nullptr;
        for (const ModelRate& rate : one.other_models)
            if (rate.model_type == model.variant() && (!nearest || distance(rate) < distance(*nearest))) nearest = &rate;
        return nearest;
    };
    if (const ModelRate* own = nearest_of(accelerator)) {
        accelerator.sustained_tflops = own->sustained_tflops;
        accelerator.rate_tokens = own->rate_tokens;
        accelerator.source = own->source;
    } else if (!accelerator.is_cpu) {
        accelerator.source += concat("; a rate of BERT: ", model.variant(), " was not measured here and may be slower");
        for (const Accelerator& other : known_accelerators())
            if (const ModelRate* rate = nearest_of(other))
                accelerator.source += concat("; ", other.name, " sustained ", rate->sustained_tflops, " instead of ",
                                             other.sustained_tflops, " TFLOP/s with ", rate->source);
        accelerator.source += "; --tflops gives another rate";
    }
    return accelerator;
}

StepTime step_time(const PlannedStep& step, const Accelerator& accelerator, const Network& network) {
    const ParameterLayout layout = step.layout();
    const double sequences = static_cast<double>(step.global_batch) / static_cast<double>(step.world_size);
    StepTime time;
    const double tokens_per_pass = sequences / static_cast<double>(step.accumulation()) * step.tokens_per_sequence;
    time.computing = sequences * step.flops_per_sequence() / (accelerator.sustained_tflops * 1e12) *
                     small_pass_factor(accelerator, shape_of(step.model).hidden_size, tokens_per_pass) *
                     length_factor(step, accelerator);
    const auto updated = static_cast<double>(step.zero_stage == 0 ? layout.flat_elements() : layout.slice_elements());
    if (accelerator.memory_gbps > 0) time.optimizer = updated * step.optimizer_traffic / (accelerator.memory_gbps * 1e9);
    if (step.world_size == 1) return time;
    time.optimizer +=
        static_cast<double>(step.messages) * message_seconds(network, step.world_size) +
        static_cast<double>(step.small_collectives) * collective_seconds(network, step.world_size, accelerator.per_node, 0);

    const BucketTimes times = bucket_times(step, layout, accelerator, network);
    time.communication = times.sum();
    if (!step.overlaps) {
        time.exposed_reduce = time.communication;
        return time;
    }
    const double pass = time.computing / static_cast<double>(step.accumulation());
    const std::vector<double> shares = stage_shares(step.model, step.tokens_per_sequence, step.masked_per_sequence);
    const std::vector<std::size_t> stage_ends = parameters_of(step.model).stage_ends;
    time.exposed_reduce = exposed_reduce(times, final_stages(layout, stage_ends), shares, pass * 2 / 3);
    if (step.zero_stage == 1) time.exposed_gather = exposed_gather(times, first_buckets(layout, stage_ends), shares, pass / 3);
    if (!accelerator.is_cpu) time.slowed = occupied_by_communication * std::max(0.0, time.communication - time.exposed());
    return time;
}

}  // namespace bertpretrain
