#include "train/snapshot.h"

#include <ATen/ATen.h>

#include "model/bert_parameters.h"

namespace bertpretrain {
namespace {

/// Pieces of one slice buffer, in the checkpoint's order of tensors.
TensorSet describe_slice(const BertConfig& config, const ParameterLayout& layout, std::int64_t rank, const at::Tensor& slice) {
    const bool holds_all = slice.numel() == layout.flat_elements();
    TensorSet set;
    std::map<std::string, std::size_t> places;
    for (const ParameterSpec& spec : bert_parameters(config).checkpoint_order) {
        places[spec.name] = set.tensors.size();
        set.tensors.push_back({spec.name, spec.shape});
    }
    for (const OwnedRun& run : layout.owned_by(rank)) {
        const std::string& name = layout.parameters()[run.parameter].spec.name;
        set.pieces.push_back({places.at(name), run.in_parameter,
                              slice.data_ptr<float>() + (holds_all ? run.in_flat : run.in_slice), run.elements});
    }
    return set;
}

}  // namespace

Snapshot take_snapshot(const BertConfig& config, const ParameterLayout& layout, std::int64_t rank,
                       const OptimizerState& optimizer) {
    Snapshot snapshot{optimizer.master.cpu(), optimizer.exp_avg.cpu(), optimizer.exp_avg_sq.cpu(), {}};
    snapshot.state.parameters = describe_slice(config, layout, rank, snapshot.master);
    snapshot.state.moments["exp_avg"] = describe_slice(config, layout, rank, snapshot.exp_avg);
    snapshot.state.moments["exp_avg_sq"] = describe_slice(config, layout, rank, snapshot.exp_avg_sq);
    for (const auto& [alias, name] : tied_names()) snapshot.state.aliases.push_back({alias, name});
    return snapshot;
}

void restore_optimizer(const CheckpointReader& reader, const ParameterLayout& layout, ShardedOptimizer& optimizer) {
    const auto fill = [&](at::Tensor& slice, const auto& read) {
        const at::Tensor on_host = at::zeros(slice.sizes(), at::kFloat);
        for (const OwnedRun& run : optimizer.owned_runs())
            read(layout.parameters()[run.parameter].spec.name, run.in_parameter, on_host.data_ptr<float>() + run.in_slice,
                 run.elements);
        slice.copy_(on_host);
    };
    fill(optimizer.state().master, [&](const std::string& name, std::int64_t first, float* into, std::int64_t elements) {
        reader.read_parameter(name, first, into, elements);
    });
    const auto moment = [&](const std::string& which) {
        return [&reader, which](const std::string& name, std::int64_t first, float* into, std::int64_t elements) {
            reader.read_moment(which, name, first, into, elements);
        };
    };
    fill(optimizer.state().exp_avg, moment("exp_avg"));
    fill(optimizer.state().exp_avg_sq, moment("exp_avg_sq"));
}

}  // namespace bertpretrain
