#include "train/start/restore_optimizer.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "archive/checksum.h"
#include "core/error.h"
#include "core/threads/threads.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t sent_at_once = std::int64_t{1} << 20, read_at_once = std::int64_t{1} << 22;  ///< elements

/// Copies elements of a parameter's tensor in the checkpoint.
using Read = std::function<void(const std::string& name, std::int64_t first, float* into, std::int64_t elements)>;

/// Returns the optimizer's three slices, each with its read function, which only a rank with a reader may call.
std::vector<std::pair<at::Tensor*, Read>> slices_of(OptimizerState& state, const CheckpointReader* reader) {
    const auto moment = [reader](const char* which) -> Read {
        return [reader, which](const std::string& name, std::int64_t first, float* into, std::int64_t elements) {
            reader->read_moment(which, name, first, into, elements);
        };
    };
    const Read parameter = [reader](const std::string& name, std::int64_t first, float* into, std::int64_t elements) {
        reader->read_parameter(name, first, into, elements);
    };
    return {{&state.master, parameter}, {&state.exp_avg, moment("exp_avg")}, {&state.exp_avg_sq, moment("exp_avg_sq")}};
}

/// Reads this rank's parts on all cores: where the files were verified, they are already in the page cache.
void restore_own(const ParameterLayout& layout, const std::vector<OwnedRun>& owned, const Read& read, float* slice) {
    std::vector<OwnedRun> parts;
    for (OwnedRun run : owned)
        for (const std::int64_t end = run.in_parameter + run.elements; run.in_parameter < end;) {
            run.elements = std::min(read_at_once, end - run.in_parameter);
            parts.push_back(run);
            run.in_parameter += run.elements;
            run.in_slice += run.elements;
        }
    for_each_index(parts.size(), available_cores(), [&](std::size_t i) {
        const OwnedRun& part = parts[i];
        read(layout.parameters()[part.parameter].spec.name, part.in_parameter, slice + part.in_slice, part.elements);
    });
}

/// Copies the overlap of this rank's part of a parameter with elements [first, first + values.size()) into `slice`.
void take_overlap(const OwnedRun& run, std::int64_t first, std::span<const float> values, float* slice) {
    const std::int64_t begin = std::max(run.in_parameter, first);
    const std::int64_t end = std::min(run.in_parameter + run.elements, first + static_cast<std::int64_t>(values.size()));
    if (begin < end)
        std::copy(values.begin() + (begin - first), values.begin() + (end - first),
                  slice + run.in_slice + begin - run.in_parameter);
}

/// Rank 0 reads each parameter and broadcasts it. If reading fails, it still sends everything and throws afterwards, so that no
/// rank waits forever.
void restore_from_first(ControlGroup& ranks, const ParameterLayout& layout, const std::vector<OwnedRun>& owned, const Read& read,
                        float* slice) {
    std::vector<float> values;
    std::exception_ptr failure;
    auto run = owned.begin();
    for (std::size_t p = 0; p < layout.parameters().size(); ++p) {
        const ParameterSpec& spec = layout.parameters()[p].spec;
        while (run != owned.end() && run->parameter < p) ++run;
        for (std::int64_t first = 0; first < spec.elements(); first += sent_at_once) {
            const std::int64_t elements = std::min(sent_at_once, spec.elements() - first);
            values.resize(static_cast<std::size_t>(elements));
            try {
                if (ranks.rank() == 0 && !failure) read(spec.name, first, values.data(), elements);
            } catch (const Error&) { failure = std::current_exception(); }
            ranks.broadcast_from_first(std::as_writable_bytes(std::span(values)));
            if (run != owned.end() && run->parameter == p) take_overlap(*run, first, values, slice);
        }
    }
    together(ranks, [&] {
        if (failure) std::rethrow_exception(failure);
    });
}

}  // namespace

void restore_optimizer(ControlGroup& ranks, const CheckpointReader* reader, const ParameterLayout& layout,
                       ShardedOptimizer& optimizer) {
    const bool all_see = ranks.agree_on_largest(reader == nullptr ? 1 : 0) == 0;
    const std::vector<OwnedRun>& owned = optimizer.owned_runs();
    for (const auto& [slice, read] : slices_of(optimizer.state(), reader)) {
        const at::Tensor on_host = slice->is_cpu() ? *slice : at::zeros(slice->sizes(), at::kFloat);
        auto* into = on_host.mutable_data_ptr<float>();
        if (all_see) together(ranks, [&, read = read] { restore_own(layout, owned, read, into); });
        else restore_from_first(ranks, layout, owned, read, into);
        if (!on_host.is_same(*slice)) slice->copy_(on_host);
    }
}

void refuse_different_weights(ControlGroup& ranks, const FlatParameters& parameters) {
    std::vector<std::uint32_t> own;
    const std::vector<PlacedParameter>& placed = parameters.layout().parameters();
    for (const PlacedParameter& parameter : placed) {
        const at::Tensor weight = parameters.weight(parameter.spec.name).cpu();
        own.push_back(crc32_of({static_cast<const std::byte*>(weight.const_data_ptr()), weight.nbytes()}));
    }
    const std::string said(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(std::uint32_t));
    const std::vector<std::string> all = ranks.all_gather(std::string_view(said));
    for (std::size_t p = 0; p < placed.size(); ++p)
        for (std::size_t rank = 1; rank < all.size(); ++rank)
            if (all[rank].compare(p * sizeof(std::uint32_t), sizeof(std::uint32_t), all[0], p * sizeof(std::uint32_t),
                                  sizeof(std::uint32_t)) != 0)
                throw DistributedError(concat("after loading, parameter ", placed[p].spec.name, " of rank ", rank,
                                              " differs from rank 0's\n  do: start the run again; if the error recurs, check ",
                                              "these hosts' memory and network"));
}

}  // namespace bertpretrain
