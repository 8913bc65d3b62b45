#include "train/save/snapshot.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "checkpoint/checkpoint_files.h"
#include "train/save/host_buffer.h"

namespace bertpretrain {
namespace {

/// Returns the checkpoint's tensors in its order, without data.
TrainingState describe_tensors(const ModelConfig& config) {
    TrainingState state;
    for (const ParameterSpec& spec : parameters_of(config).checkpoint_order) {
        state.parameters.tensors.push_back({spec.name, spec.shape});
        if (!spec.tied_name.empty()) state.aliases.push_back({spec.tied_name, spec.name});
    }
    state.moments["exp_avg"] = state.moments["exp_avg_sq"] = state.parameters;
    return state;
}

/// Adds the rank's part of a set of tensors. @param slice contains the values: the rank's own slice, or the whole flat buffer
void add_pieces(TensorSet& set, const ParameterLayout& layout, std::int64_t rank, const at::Tensor& slice) {
    const bool holds_all = slice.numel() == layout.flat_elements();
    std::map<std::string, std::size_t> places;
    for (const TensorDescription& tensor : set.tensors) places.emplace(tensor.name, places.size());
    for (const OwnedRun& run : layout.owned_by(rank)) {
        const std::string& name = layout.parameters()[run.parameter].spec.name;
        set.pieces.push_back({places.at(name), run.in_parameter,
                              slice.const_data_ptr<float>() + (holds_all ? run.in_flat : run.in_slice), run.elements});
    }
}

Snapshot describe(const ModelConfig& config, const ParameterLayout& layout, std::int64_t rank, const OptimizerState& on_host) {
    Snapshot snapshot{on_host.master, on_host.exp_avg, on_host.exp_avg_sq, describe_tensors(config)};
    add_pieces(snapshot.state.parameters, layout, rank, snapshot.master);
    add_pieces(snapshot.state.moments["exp_avg"], layout, rank, snapshot.exp_avg);
    add_pieces(snapshot.state.moments["exp_avg_sq"], layout, rank, snapshot.exp_avg_sq);
    return snapshot;
}

/// Each thread copies one long range: memcpy then uses non-temporal stores.
void copy_on_all_threads(const float* from, float* into, std::int64_t elements) {
    constexpr std::int64_t worth_a_thread = std::int64_t{1} << 18;
    const std::int64_t threads = at::get_num_threads(), share = (elements + threads - 1) / threads;
    at::parallel_for(0, elements, std::max(share, worth_a_thread), [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(into + begin, from + begin, static_cast<std::size_t>(end - begin) * sizeof(float));
    });
}

void copy_slice(const ParameterLayout& layout, std::int64_t rank, const at::Tensor& from, const at::Tensor& into) {
    if (from.numel() == into.numel()) {
        if (!from.device().is_cpu()) into.copy_(from);
        else copy_on_all_threads(from.const_data_ptr<float>(), into.mutable_data_ptr<float>(), into.numel());
        return;
    }
    std::int64_t at = 0;  // at ZeRO stage 0, `from` contains all slices
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
        const Bucket slice = layout.slice_of(b, rank);
        into.narrow(0, at, slice.elements()).copy_(from.narrow(0, slice.begin, slice.elements()));
        at += slice.elements();
    }
}

at::Tensor slice_buffer(const ParameterLayout& layout, at::Device device) {
    const PageLock of_cuda = cuda_page_lock();
    return host_buffer(layout.slice_elements(), device.is_cpu() ? nullptr : &of_cuda);
}

}  // namespace

Snapshot see_state(const ModelConfig& config, const ParameterLayout& layout, std::int64_t rank, const OptimizerState& optimizer) {
    return describe(config, layout, rank, {optimizer.master.cpu(), optimizer.exp_avg.cpu(), optimizer.exp_avg_sq.cpu()});
}

std::uint64_t checkpoint_bytes(const ModelConfig& config) { return checkpoint_bytes(describe_tensors(config)); }

SnapshotBuffers::SnapshotBuffers(const ParameterLayout& layout, at::Device device)
    : master_(slice_buffer(layout, device)), exp_avg_(slice_buffer(layout, device)), exp_avg_sq_(slice_buffer(layout, device)) {}

std::uint64_t SnapshotBuffers::bytes(const ParameterLayout& layout) {
    return 3 * sizeof(float) * static_cast<std::uint64_t>(layout.slice_elements());
}

Snapshot SnapshotBuffers::copy(const ModelConfig& config, const ParameterLayout& layout, std::int64_t rank,
                               const OptimizerState& optimizer) {
    copy_slice(layout, rank, optimizer.master, master_);
    copy_slice(layout, rank, optimizer.exp_avg, exp_avg_);
    copy_slice(layout, rank, optimizer.exp_avg_sq, exp_avg_sq_);
    return describe(config, layout, rank, {master_, exp_avg_, exp_avg_sq_});
}

}  // namespace bertpretrain
